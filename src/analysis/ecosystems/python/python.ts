/**
 * Python: any project with a manifest of one of its package managers, and folders that only have an entry file. Refuses
 * to judge by a dependency alone where the code says otherwise: the application object in the code goes first.
 */
import type { Candidate, Detector } from '../../detector.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../../evidence.ts';
import { Project } from '../../project.ts';
import { stringAt, valueAt } from '../../readers/shape.ts';
import { type Parsed, parentOf, type Repository } from '../../repository.ts';
import { healthInCode } from '../code-health.ts';
import { portInCode } from '../code-port.ts';
import { candidate, versionsOf } from '../draft.ts';
import { sqliteVolumes } from '../sqlite-volumes.ts';
import { listedMembers, workspaceFinder } from '../workspace-members.ts';
import { type Django, readDjango } from './django.ts';
import { type AppObject, findAppObject } from './python-app.ts';
import { pythonDependencies, requirementsFile } from './python-dependencies.ts';
import { frameworks, type PythonFramework } from './python-frameworks.ts';
import { pythonProject, pythonVersion } from './python-manager.ts';
import { pythonProcesses } from './python-processes.ts';
import { pythonStart } from './python-start.ts';

const manifests = 'pyproject.toml requirements.txt Pipfile setup.py environment.yml environment.yaml'.split(
  ' ',
);

export const python: Detector = {
  name: 'python',
  detect(project) {
    const isProject = hasManifest(project);
    if (!isProject && !mayBeLone(project)) return [];
    const files = project.sources(['.py'], manifests);
    if (!isProject && files.length === 0) return [];
    return [describe(project, files, isProject)];
  },
};

export const uvWorkspace = workspaceFinder(
  'uv',
  ['pyproject.toml'],
  '[tool.uv.workspace]',
  (repository, file, root) =>
    listedMembers(
      repository,
      root,
      valueAt(repository.toml(file), 'tool', 'uv', 'workspace'),
      'pyproject.toml',
    ),
);

function hasManifest(project: Project): boolean {
  return manifests.some((name) => project.files.has(name)) || requirementsFile(project) !== undefined;
}

/** Without a manifest it is an app only where no project is above it. */
function mayBeLone({ files, endings, isRoot, path, repository }: Project): boolean {
  if (isRoot) return endings.has('py');
  const names = ['main.py', 'app.py', 'manage.py', 'server.py', 'wsgi.py', 'bot.py'];
  if (!names.some((name) => files.has(name))) return false;
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const above = new Project(repository, at);
    if (hasManifest(above) || above.files.has('manage.py')) return false;
  }
  return true;
}

function describe(project: Project, files: readonly string[], isProject: boolean): Candidate {
  const { repository } = project;
  const { pyproject, manager, install } = pythonProject(project);
  const dependencies = pythonDependencies(project);
  const imports = importsOf(repository, files);
  const has = (name: string) => dependencies.has(name) || imports.has(name.replaceAll('-', '_'));
  const app = findAppObject(project, files, (name) => {
    const known = frameworks.find((each) => each.name === name);
    return known?.packages.some(has) === true || imports.has(known?.module ?? name);
  });
  const django = has('django') ? readDjango(project, files, has) : undefined;
  const framework = chooseFramework(has, imports, app, django);
  const start = pythonStart(project, pyproject, files, { framework, app, django, has });
  const processes = pythonProcesses(project, files, has, django?.manage);
  const [first = project.at('pyproject.toml')] = files;
  const isWorker = framework?.name === 'celery' && processes.length > 0;
  const entry = start?.file ?? app?.hit.file ?? first;
  const source = [...dependencies].find(([name]) => framework?.packages.includes(name))?.[1] ?? entry;
  const usesInstance =
    framework?.name === 'flask' &&
    (has('flask-sqlalchemy') || repository.find(files, /\binstance_(?:path|relative_config)\b/));
  const draft = {
    name: nameIn(project, pyproject),
    language: evidenced('python', files.length > 0 || isProject ? certain : guessed, first, 'Python'),
    framework: framework && evidenced(framework.name, certain, source, framework.name),
    packageManager: manager,
    versions: versionsOf({ python: pythonVersion(project, pyproject) }),
    installCommand: install,
    buildCommand: django?.build,
    startCommand: isWorker
      ? processes[0] && evidenced(processes[0].value.command, conventional, first, 'celery')
      : start?.command,
    releaseCommand: django?.release ?? migrations(project, has, app),
    port: isWorker
      ? undefined
      : portOf(project, framework, [entry, app?.hit.file ?? entry, ...files.slice(0, 10)]),
    healthPath:
      framework && framework.kind !== 'none'
        ? healthInCode(repository, rootFiles(files, app, django, entry))
        : undefined,
    processes: isWorker ? processes.slice(1) : processes,
    // Flask keeps files of a running app in a folder of that name.
    ...sqliteVolumes(project, django ? django.settings : files, usesInstance ? 'instance' : undefined),
  };
  const isLibrary = draft.startCommand === undefined && isProject;
  const score = framework && start ? 0.9 : start && isProject ? 0.7 : isProject ? 0.3 : start ? 0.4 : 0.15;
  return candidate('python', project.path, score, draft, isLibrary ? 'library' : 'app');
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
): PythonFramework | undefined {
  if (django || app) return frameworks.find(({ name }) => name === (django ? 'django' : app?.framework));
  // A framework that is imported somewhere goes before one that is only installed.
  const isImported = ({ module, packages }: PythonFramework) =>
    imports.has(module ?? packages[0]?.replaceAll('-', '_') ?? '');
  return frameworks.find(isImported) ?? frameworks.find((each) => each.packages.some(has));
}

function importsOf(repository: Repository, files: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const file of files.slice(0, 150)) {
    for (const line of repository.lines(file)) {
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
  project: Project,
  has: (name: string) => boolean,
  app: AppObject | undefined,
): Evidenced<string> | undefined {
  const say = (command: string, file: string, note: string) => evidenced(command, conventional, file, note);
  const alembic = project.first('alembic.ini');
  if (alembic) return say('alembic upgrade head', alembic, 'migrations of Alembic');
  if (!project.hasFolder('migrations')) return undefined;
  if (app && has('flask-migrate')) {
    const name = app.isFactory ? app.module : `${app.module}:${app.object}`;
    return say(`flask --app ${name} db upgrade`, app.hit.file, 'Flask-Migrate');
  }
  return has('aerich') ? say('aerich upgrade', project.at('pyproject.toml'), 'Aerich') : undefined;
}

function nameIn(project: Project, pyproject: Parsed | undefined): Evidenced<string> | undefined {
  const name = valueAt(pyproject, 'project', 'name') ?? stringAt(pyproject, 'tool', 'poetry', 'name');
  const path = project.at('pyproject.toml');
  return typeof name === 'string' ? evidenced(name, certain, path, `name ${name.slice(0, 60)}`) : undefined;
}

const servers =
  /^\s*(?:from|import)\s+(?:http\.server|socketserver|socket|wsgiref|uvicorn|hypercorn|gunicorn|websockets|grpc|waitress|werkzeug|xmlrpc|twisted|gevent|eventlet|asyncio)\b/;

/** Where it listens: in its code, in the file of its server, else by the convention of its framework. */
function portOf(
  project: Project,
  framework: PythonFramework | undefined,
  files: readonly [string, ...string[]],
): Evidenced<number | null> {
  const { repository } = project;
  const [entry] = files;
  if (framework?.kind === 'none') return evidenced(null, conventional, entry, 'listens nowhere');
  const usual =
    framework && evidenced(framework.port, conventional, entry, `convention of ${framework.name}`);
  const configs = ['gunicorn.conf.py', 'gunicorn_config.py', 'hypercorn.toml'].map((name) =>
    project.at(name),
  );
  // Ports in the settings of Django are those of databases.
  if (usual && framework.name === 'django') return portInCode(repository, configs) ?? usual;
  if (usual && framework.name === 'streamlit') {
    const port = valueAt(project.toml('.streamlit/config.toml'), 'server', 'port');
    const file = project.at('.streamlit/config.toml');
    return typeof port === 'number' ? evidenced(port, certain, file, 'server.port') : usual;
  }
  const isServer = usual !== undefined || repository.find(files, servers) !== undefined;
  const inCode = isServer ? portInCode(repository, [...configs, ...new Set(files)]) : undefined;
  return inCode ?? usual ?? evidenced(null, guessed, entry, 'nothing that listens was seen');
}
