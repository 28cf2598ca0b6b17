/** Which tool installs a Python project, how, and for which Python. */

import { certain, conventional, type Evidenced, evidenced, firstEvidenced } from '../../evidence.ts';
import { isParsed, join, nameOf, type Parsed, type Repository } from '../../repository.ts';
import type { PackageManager } from '../../result.ts';
import { within } from '../code.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { requirementsFile } from './python-dependencies.ts';

export interface PythonProject {
  readonly directory: string;
  readonly pyproject: Parsed | undefined;
  readonly manager: Evidenced<PackageManager>;
  readonly install: Evidenced<string> | undefined;
}

export function pythonProject(repository: Repository, directory: string): PythonProject {
  const path = join(directory, 'pyproject.toml');
  const pyproject = repository.has(path) ? repository.toml(path) : undefined;
  const found = findManager(repository, directory, pyproject);
  return {
    directory,
    pyproject,
    manager: found,
    install: installCommand(repository, directory, pyproject, found),
  };
}

function findManager(
  repository: Repository,
  directory: string,
  pyproject: Parsed | undefined,
): Evidenced<PackageManager> {
  const lock = (name: string) => repository.firstOf(directory, [name]);
  const version = (name: string) => toolVersion(repository, directory, name)?.value ?? null;
  const locks = { 'uv.lock': 'uv', 'poetry.lock': 'poetry', 'pdm.lock': 'pdm', 'Pipfile.lock': 'pipenv' };
  for (const [file, name] of Object.entries(locks)) {
    const found = lock(file);
    if (found) return manager(name, found, found, version(name));
  }
  const tool = isParsed(pyproject?.tool) ? pyproject.tool : {};
  const path = join(directory, 'pyproject.toml');
  const above = pyproject && repository.upwards(directory, ['uv.lock']);
  if (above) return manager('uv', above, path, version('uv'));
  const requirements = requirementsFile(repository, directory);
  const backend = isParsed(pyproject?.['build-system'])
    ? String(pyproject['build-system']['build-backend'])
    : '';
  if (lock('Pipfile')) return manager('pipenv', undefined, join(directory, 'Pipfile'), version('pipenv'));
  if (requirements) return manager('pip', undefined, requirements);
  if (isParsed(tool.uv) || backend.startsWith('uv_build'))
    return manager('uv', undefined, path, version('uv'));
  if (isParsed(tool.poetry) || backend.startsWith('poetry')) {
    return manager('poetry', undefined, path, version('poetry'));
  }
  if (isParsed(tool.pdm) || backend.startsWith('pdm')) return manager('pdm', undefined, path, version('pdm'));
  const conda = repository.firstOf(directory, ['environment.yml', 'environment.yaml']);
  if (conda && !pyproject) return manager('conda', undefined, conda);
  // A tool file that names uv says who reads a plain pyproject.toml.
  if (pyproject && version('uv') !== null) return manager('uv', undefined, path, version('uv'));
  return manager(
    'pip',
    undefined,
    repository.firstOf(directory, ['pyproject.toml', 'setup.py']) ?? directory,
  );
}

function installCommand(
  repository: Repository,
  directory: string,
  pyproject: Parsed | undefined,
  found: Evidenced<PackageManager>,
): Evidenced<string> | undefined {
  const { name, lockFile } = found.value;
  const say = (command: string) => evidenced(command, conventional, found.source.file, found.source.note);
  if (name === 'uv') return say(`uv sync${lockFile ? ' --frozen' : ''} --no-dev`);
  if (name === 'poetry') {
    const root = isPackage(repository, directory, pyproject) ? '' : ' --no-root';
    return say(`poetry install --only main${root}`);
  }
  if (name === 'pdm') return say(`pdm install --prod${lockFile ? ' --frozen-lockfile' : ''}`);
  if (name === 'pipenv') return say(lockFile ? 'pipenv install --deploy' : 'pipenv install --skip-lock');
  if (name === 'conda') return say(`conda env update --name base --file ${nameOf(found.source.file)}`);
  const requirements = requirementsFile(repository, directory);
  if (requirements) {
    return evidenced(
      `pip install -r ${within(directory, requirements)}`,
      certain,
      requirements,
      'requirements',
    );
  }
  const built = repository.firstOf(directory, ['pyproject.toml', 'setup.py']);
  return built === undefined ? undefined : evidenced('pip install .', conventional, built, 'a package');
}

/** Whether installing the project itself can work: Poetry fails where there is nothing of its name. */
function isPackage(repository: Repository, directory: string, pyproject: Parsed | undefined): boolean {
  const poetry = isParsed(pyproject?.tool) && isParsed(pyproject.tool.poetry) ? pyproject.tool.poetry : {};
  if (poetry['package-mode'] === false) return false;
  if (Array.isArray(poetry.packages)) return true;
  const project = isParsed(pyproject?.project) ? pyproject.project : {};
  const name = String(poetry.name ?? project.name ?? '').replace(/[-.]/g, '_');
  if (name === '') return false;
  const places = [`${name}/__init__.py`, `src/${name}/__init__.py`, `${name}.py`];
  return places.some((place) => repository.has(join(directory, place)));
}

export function pythonVersion(
  repository: Repository,
  directory: string,
  pyproject: Parsed | undefined,
): Evidenced<string> | undefined {
  return versionLine(
    'python',
    firstEvidenced(
      toolVersion(repository, directory, 'python'),
      fromPipfile(repository, join(directory, 'Pipfile')),
      fromPyproject(pyproject, join(directory, 'pyproject.toml')),
      fromConda(repository, directory),
    ),
  );
}

function fromPipfile(repository: Repository, path: string): Evidenced<string> | undefined {
  const requires = repository.has(path) ? repository.toml(path)?.requires : undefined;
  if (!isParsed(requires)) return undefined;
  const version = requires.python_full_version ?? requires.python_version;
  return typeof version === 'string' ? evidenced(version, certain, path, `python ${version}`) : undefined;
}

function fromPyproject(pyproject: Parsed | undefined, path: string): Evidenced<string> | undefined {
  const project = isParsed(pyproject?.project) ? pyproject.project : {};
  const tool = isParsed(pyproject?.tool) ? pyproject.tool : {};
  const poetry = isParsed(tool.poetry) && isParsed(tool.poetry.dependencies) ? tool.poetry.dependencies : {};
  const wanted = project['requires-python'] ?? poetry.python;
  return typeof wanted === 'string'
    ? evidenced(wanted, certain, path, `python ${wanted.slice(0, 40)}`)
    : undefined;
}

function fromConda(repository: Repository, directory: string): Evidenced<string> | undefined {
  const path = repository.firstOf(directory, ['environment.yml', 'environment.yaml']);
  const all = path === undefined ? undefined : repository.yaml(path)?.dependencies;
  if (path === undefined || !Array.isArray(all)) return undefined;
  for (const each of all) {
    const version = /^python\s*=+\s*(\d[\d.]*)/.exec(String(each))?.[1];
    if (version) return evidenced(version, certain, path, `python ${version}`);
  }
  return undefined;
}
