/** Which tool installs a Python project, how, and for which Python. */
import { certain, conventional, type Evidenced, evidenced } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { asList, objectAt, stringAt, valueAt } from '../../readers/shape.ts';
import { isParsed, nameOf, type Parsed } from '../../repository.ts';
import type { PackageManager } from '../../result.ts';
import { manager } from '../draft.ts';
import { toolVersion } from '../tool-versions.ts';
import { versionLine } from '../version-lines.ts';
import { requirementsFile } from './python-dependencies.ts';

export interface PythonProject {
  readonly pyproject: Parsed | undefined;
  readonly manager: Evidenced<PackageManager>;
  readonly install: Evidenced<string> | undefined;
}

export function pythonProject(project: Project): PythonProject {
  const pyproject = project.toml('pyproject.toml');
  const found = findManager(project, pyproject);
  return { pyproject, manager: found, install: installCommand(project, pyproject, found) };
}

const locks: readonly (readonly [string, string])[] = [
  ['uv.lock', 'uv'],
  ['poetry.lock', 'poetry'],
  ['pdm.lock', 'pdm'],
  ['Pipfile.lock', 'pipenv'],
];

function findManager(project: Project, pyproject: Parsed | undefined): Evidenced<PackageManager> {
  const file = project.at('pyproject.toml');
  const named = (name: string, lock?: string, source = file) =>
    manager(name, lock, source, toolVersion(project, name)?.value ?? null);
  for (const [lock, name] of locks) if (project.has(lock)) return named(name, project.at(lock));
  const above = pyproject && project.upwards('uv.lock');
  if (above) return named('uv', above);
  const pipfile = project.first('Pipfile');
  if (pipfile) return named('pipenv', undefined, pipfile);
  const requirements = requirementsFile(project);
  if (requirements) return manager('pip', undefined, requirements);
  const tool = objectAt(pyproject, 'tool');
  const backend = stringAt(pyproject, 'build-system', 'build-backend') ?? '';
  const prefixes = { uv: 'uv_build', poetry: 'poetry', pdm: 'pdm' };
  for (const [name, prefix] of Object.entries(prefixes))
    if (isParsed(tool[name]) || backend.startsWith(prefix)) return named(name);
  const conda = project.first('environment.yml', 'environment.yaml');
  if (conda && !pyproject) return manager('conda', undefined, conda);
  // A tool file that names uv says who reads a plain pyproject.toml.
  if (pyproject && toolVersion(project, 'uv')) return named('uv');
  return manager('pip', undefined, project.first('pyproject.toml', 'setup.py') ?? project.path);
}

function installCommand(
  project: Project,
  pyproject: Parsed | undefined,
  found: Evidenced<PackageManager>,
): Evidenced<string> | undefined {
  const { name, lockFile } = found.value;
  const commands: Readonly<Record<string, string>> = {
    uv: `uv sync${lockFile ? ' --frozen' : ''} --no-dev`,
    poetry: `poetry install --only main${isPackage(project, pyproject) ? '' : ' --no-root'}`,
    pdm: `pdm install --prod${lockFile ? ' --frozen-lockfile' : ''}`,
    pipenv: lockFile ? 'pipenv install --deploy' : 'pipenv install --skip-lock',
    conda: `conda env update --name base --file ${nameOf(found.source.file)}`,
  };
  const command = commands[name];
  if (command !== undefined) return { ...found, value: command, certainty: conventional };
  const requirements = requirementsFile(project);
  if (requirements)
    return evidenced(
      `pip install -r ${project.relative(requirements)}`,
      certain,
      requirements,
      'requirements',
    );
  const built = project.first('pyproject.toml', 'setup.py');
  return built === undefined ? undefined : evidenced('pip install .', conventional, built, 'a package');
}

/** Whether installing the project itself can work: Poetry fails where there is nothing of its name. */
function isPackage(project: Project, pyproject: Parsed | undefined): boolean {
  const poetry = objectAt(pyproject, 'tool', 'poetry');
  if (poetry['package-mode'] === false) return false;
  if (Array.isArray(poetry.packages)) return true;
  const name = String(poetry.name ?? valueAt(pyproject, 'project', 'name') ?? '').replace(/[-.]/g, '_');
  return (
    name !== '' && project.first(`${name}/__init__.py`, `src/${name}/__init__.py`, `${name}.py`) !== undefined
  );
}

export function pythonVersion(
  project: Project,
  pyproject: Parsed | undefined,
): Evidenced<string> | undefined {
  const say = (version: string | undefined, file: string) =>
    version === undefined ? undefined : evidenced(version, certain, file, `python ${version.slice(0, 40)}`);
  const pipfile = objectAt(project.toml('Pipfile'), 'requires');
  const conda = project.first('environment.yml', 'environment.yaml');
  const asked = asList(conda && project.repository.yaml(conda)?.dependencies)
    .map((each) => /^python\s*=+\s*(\d[\d.]*)/.exec(String(each))?.[1])
    .find((version) => version !== undefined);
  return versionLine(
    'python',
    toolVersion(project, 'python') ??
      say(
        stringAt(pipfile, 'python_full_version') ?? stringAt(pipfile, 'python_version'),
        project.at('Pipfile'),
      ) ??
      say(
        stringAt(pyproject, 'project', 'requires-python') ??
          stringAt(pyproject, 'tool', 'poetry', 'dependencies', 'python'),
        project.at('pyproject.toml'),
      ) ??
      say(asked, conda ?? ''),
  );
}
