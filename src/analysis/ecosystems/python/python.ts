/**
 * Python: any project with a manifest of one of its package managers, and folders that only have an entry file. Refuses
 * to judge by a dependency alone where the code says otherwise: the application object in the code goes first.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, firstEvidenced, guessed } from '../../evidence.ts';
import { type Directory, isParsed, join, parentOf, type Repository } from '../../repository.ts';
import { findInAny, linesOf, ownSources } from '../code.ts';
import { healthInCode } from '../code-health.ts';
import { candidate, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { type Django, readDjango } from './django.ts';
import { type AppObject, findAppObject } from './python-app.ts';
import { pythonDependencies, requirementsFile } from './python-dependencies.ts';
import { type Framework, frameworks } from './python-frameworks.ts';
import { type PythonProject, pythonProject, pythonVersion } from './python-manager.ts';
import { pythonPort } from './python-port.ts';
import { pythonProcesses } from './python-processes.ts';
import { pythonStart } from './python-start.ts';

const manifests = [
  'pyproject.toml',
  'requirements.txt',
  'Pipfile',
  'setup.py',
  'environment.yml',
  'environment.yaml',
];

export const python: Detector = {
  name: 'python',
  detect(directory, repository) {
    const isProject = hasManifest(repository, directory);
    if (!isProject && !mayBeLone(repository, directory)) return [];
    const files = ownSources(repository, directory.path, ['.py'], manifests);
    if (!isProject && files.length === 0) return [];
    return [describe(repository, directory.path, files, isProject)];
  },
};

function hasManifest(repository: Repository, { path, files }: Directory): boolean {
  if (manifests.some((name) => files.has(name))) return true;
  return requirementsFile(repository, path) !== undefined;
}

/** Without a manifest it is an app only where no project is above it. */
function mayBeLone(repository: Repository, { path, files }: Directory): boolean {
  const has = ['main.py', 'app.py', 'manage.py', 'server.py', 'wsgi.py', 'bot.py'].some((name) =>
    files.has(name),
  );
  if (!has && !(path === repository.root && [...files].some((name) => name.endsWith('.py')))) return false;
  if (path === repository.root) return true;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const above = repository.directory(at);
    if (above && (hasManifest(repository, above) || above.files.has('manage.py'))) return false;
  }
  return true;
}

function describe(
  repository: Repository,
  directory: string,
  files: readonly string[],
  isProject: boolean,
): Candidate {
  const project = pythonProject(repository, directory);
  const dependencies = pythonDependencies(repository, directory);
  const imports = importsOf(repository, files);
  const has = (name: string) => dependencies.has(name) || imports.has(name.replaceAll('-', '_'));
  const app = findAppObject(repository, directory, files, (name) => {
    const known = frameworks.find((each) => each.name === name);
    return known?.packages.some(has) === true || imports.has(known?.module ?? name);
  });
  const django =
    has('django') || imports.has('django') ? readDjango(repository, directory, files, has) : undefined;
  const framework = chooseFramework(has, imports, app, django);
  const start = pythonStart(repository, project, files, { framework, app, django, has });
  const processes = pythonProcesses(repository, directory, files, has, django?.manage);
  const isWorker = framework?.name === 'celery' && processes.length > 0;
  const first = files[0] ?? join(directory, 'pyproject.toml');
  const entry = start?.file ?? app?.hit.file ?? first;
  const source = [...dependencies].find(([name]) => framework?.packages.includes(name))?.[1] ?? entry;
  const draft = {
    name: nameIn(project),
    language: evidenced('python', files.length > 0 || isProject ? certain : guessed, first, 'Python'),
    framework: framework && evidenced(framework.name, certain, source, framework.name),
    packageManager: project.manager,
    versions: versionsOf({ python: pythonVersion(repository, directory, project.pyproject) }),
    installCommand: project.install,
    buildCommand: django?.build,
    startCommand: isWorker
      ? processes[0] && evidenced(processes[0].value.command, conventional, first, 'celery')
      : start?.command,
    releaseCommand: firstEvidenced(django?.release, migrations(repository, directory, has, app)),
    port: isWorker
      ? undefined
      : pythonPort(repository, directory, framework, [entry, app?.hit.file ?? entry, ...files.slice(0, 10)]),
    healthPath:
      framework && framework.kind !== 'none'
        ? healthInCode(repository, rootFiles(files, app, django, entry))
        : undefined,
    processes: isWorker ? processes.slice(1) : processes,
    volumes: sqliteVolumes(
      repository,
      directory,
      django ? django.settings : files,
      framework?.name === 'flask' && usesInstance(repository, files, has) ? 'instance' : undefined,
    ),
  };
  const isLibrary = draft.startCommand === undefined && isProject;
  const score = framework && start ? 0.9 : start && isProject ? 0.7 : isProject ? 0.3 : start ? 0.4 : 0.15;
  return candidate('python', directory, score, draft, isLibrary ? 'library' : 'app');
}

/** Where routes have no prefix: beside the application object, or in the first urls.py of Django. */
function rootFiles(
  files: readonly string[],
  app: AppObject | undefined,
  django: Django | undefined,
  entry: string,
): readonly string[] {
  if (!django) return [...new Set([app?.hit.file ?? entry, entry])];
  const folders = django.settings.map((path) => path.replace(/\/settings(?:\/\w+)?\.py$/, ''));
  return files.filter((path) => folders.some((folder) => path === `${folder}/urls.py`));
}

function chooseFramework(
  has: (name: string) => boolean,
  imports: ReadonlySet<string>,
  app: AppObject | undefined,
  django: Django | undefined,
): Framework | undefined {
  const named = (name: string | undefined) => frameworks.find((each) => each.name === name);
  if (django) return named('django');
  if (app) return named(app.framework);
  // A framework that is imported somewhere goes before one that is only installed.
  const isImported = ({ module, packages }: Framework) =>
    imports.has(module ?? packages[0]?.replaceAll('-', '_') ?? '');
  return frameworks.find(isImported) ?? frameworks.find((each) => each.packages.some(has));
}

function importsOf(repository: Repository, files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of files.slice(0, 150)) {
    for (const line of linesOf(repository, file)) {
      const name = /^\s*(?:from|import)\s+(\w+)/.exec(line)?.[1];
      if (name !== undefined) found.add(name);
      // A client of HTTP is no server.
      if (/^\s*from aiohttp import .*\bweb\b|^\s*import aiohttp\.web|aiohttp\.web\./.test(line))
        found.add('aiohttp.web');
    }
  }
  return found;
}

function migrations(
  repository: Repository,
  directory: string,
  has: (name: string) => boolean,
  app: AppObject | undefined,
): Evidenced<string> | undefined {
  const alembic = repository.firstOf(directory, ['alembic.ini']);
  if (alembic) return evidenced('alembic upgrade head', conventional, alembic, 'migrations of Alembic');
  const folder = repository.directory(join(directory, 'migrations'));
  if (folder && app && has('flask-migrate')) {
    const name = app.isFactory ? app.module : `${app.module}:${app.object}`;
    return evidenced(`flask --app ${name} db upgrade`, conventional, app.hit.file, 'Flask-Migrate');
  }
  if (folder && has('aerich'))
    return evidenced('aerich upgrade', conventional, join(directory, 'pyproject.toml'), 'Aerich');
  return undefined;
}

/** Flask keeps files of a running app in a folder of that name. */
function usesInstance(
  repository: Repository,
  files: readonly string[],
  has: (name: string) => boolean,
): boolean {
  return (
    has('flask-sqlalchemy') ||
    findInAny(repository, files, /\binstance_(?:path|relative_config)\b/) !== undefined
  );
}

function nameIn({ pyproject, directory }: PythonProject): Evidenced<string> | undefined {
  const project = isParsed(pyproject?.project) ? pyproject.project : {};
  const tool = isParsed(pyproject?.tool) && isParsed(pyproject.tool.poetry) ? pyproject.tool.poetry : {};
  const name = project.name ?? tool.name;
  const path = join(directory, 'pyproject.toml');
  return typeof name === 'string' ? evidenced(name, certain, path, `name ${name.slice(0, 60)}`) : undefined;
}
