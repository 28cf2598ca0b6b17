/** How a Python app is started: by a server with its application object, by its framework's tool, or as a script. */
import { certain, conventional, type Evidenced, evidenced, evidencedBy, guessed } from '../../evidence.ts';
import type { Project } from '../../project.ts';
import { asObject, valueAt } from '../../readers/shape.ts';
import { nameOf, type Parsed, parentOf } from '../../repository.ts';
import type { Django } from './django.ts';
import type { AppObject } from './python-app.ts';
import { type PythonFramework, serverCommand } from './python-frameworks.ts';

export interface PythonStart {
  readonly command: Evidenced<string>;
  readonly file: string;
}

interface Known {
  readonly framework: PythonFramework | undefined;
  readonly app: AppObject | undefined;
  readonly django: Django | undefined;
  readonly has: (name: string) => boolean;
}

export function pythonStart(
  project: Project,
  pyproject: Parsed | undefined,
  files: readonly string[],
  { framework, app, django, has }: Known,
): PythonStart | undefined {
  const by = (command: Evidenced<string> | undefined) => command && { command, file: command.source.file };
  if (django) return by(django.start);
  if (framework && app && framework.kind !== 'script') return served(project, framework, app, has);
  if (framework?.name === 'scrapy') return by(scrapy(project, files));
  if (framework?.serves) {
    const serving = project.repository.find(files, framework.serves)?.file;
    if (serving !== undefined) return by(scripted(project, framework, serving));
    if (app) return served(project, { ...framework, kind: 'asgi' }, app, has);
  }
  const entry = entryFile(project, files);
  const imported = framework && importing(project, files, framework, entry);
  if (imported) return by(scripted(project, framework, imported.value));
  const isAtTop = entry && entry.certainty > guessed && !project.relative(entry.value).includes('/');
  const packaged = isAtTop ? undefined : packageCommand(project, pyproject, files);
  return by(packaged ?? (entry && { ...entry, value: runFile(project, entry.value) }));
}

function served(
  project: Project,
  framework: PythonFramework,
  found: AppObject,
  has: (name: string) => boolean,
): PythonStart {
  const { repository } = project;
  const { file } = found.hit;
  const isDash = framework.name === 'dash';
  const inner = repository.capture(file, new RegExp(String.raw`^(\w+)\s*=\s*${found.object}\.server\b`));
  const app = isDash && inner !== undefined ? { ...found, object: inner } : found;
  const { command, server } = serverCommand(framework, app, has);
  const start = (value: string, certainty: number) => ({
    command: evidencedBy(found.hit, value, certainty),
    file,
  });
  if (server !== undefined && !(isDash && inner === undefined)) return start(command, certain);
  // Without a server the file serves itself; one that listens on this machine only would not be reached.
  const runner = runnerOf(project, file);
  if (runner && repository.find(runner, /\bhost\s*=\s*["'](?:0\.0\.0\.0|::)?["']/))
    return { ...start(runFile(project, runner), conventional), file: runner };
  return start(isDash ? `HOST=0.0.0.0 ${runFile(project, file)}` : command, conventional);
}

/** The file that runs the app when it is run: its own, or one at the top that imports it. */
function runnerOf(project: Project, file: string): string | undefined {
  const tops = ['main.py', 'run.py', 'app.py', 'server.py', 'wsgi.py'].map((name) => project.at(name));
  return project.repository.find([file, ...tops], /^\s+(?:\w+\.)?(?:run|serve)\(|^(?:\w+)\.run\(/)?.file;
}

function importing(
  project: Project,
  files: readonly string[],
  framework: PythonFramework,
  entry: Evidenced<string> | undefined,
): Evidenced<string> | undefined {
  const { repository } = project;
  const whole = framework.module ?? framework.packages[0] ?? framework.name;
  const module = whole.replaceAll('-', '_').split('.')[0];
  const pattern = new RegExp(String.raw`^\s*(?:from|import)\s+${module}\b`);
  if (entry && repository.find(entry.value, pattern)) return entry;
  const named = [`${framework.name}_app.py`, 'app.py', 'main.py'].map((name) => project.at(name));
  const others = files.filter((path) => !path.includes('/pages/'));
  const hit = repository.find([...named, ...others], pattern);
  return hit && framework.kind === 'script'
    ? evidenced(hit.file, conventional, hit.file, `imports ${module}`)
    : undefined;
}

function scripted(project: Project, framework: PythonFramework, file: string): Evidenced<string> {
  const plain = runFile(project, file);
  const isOpen =
    framework.name !== 'gradio' || project.repository.find(file, /\bserver_name\s*=/) !== undefined;
  const command =
    framework.run?.(project.relative(file)) ??
    (isOpen ? plain : `GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT ${plain}`);
  return evidenced(command, certain, file, `${framework.name} in ${nameOf(file)}`);
}

function scrapy({ repository }: Project, files: readonly string[]): Evidenced<string> | undefined {
  const spiders = files.filter((path) => path.includes('/spiders/') || path.includes('spider'));
  const hit = repository.find(spiders, /^\s+name\s*=\s*["']([\w-]+)["']/);
  return hit && evidenced(`scrapy crawl ${hit.match[1]}`, conventional, hit.file, 'a spider', hit.line);
}

/** A file inside a package is run as a module, or its imports would not be found. */
function runFile(project: Project, file: string): string {
  const path = project.relative(file);
  const folder = parentOf(path) ?? '';
  const top = (path.split('/')[0] ?? '').replace(/[^\w]/g, '');
  const own = new RegExp(String.raw`^\s*(?:from\s+\.|from\s+${top}[. ]|import\s+${top}\b)`);
  const isModule =
    folder !== '' &&
    (project.has(`${folder}/__init__.py`) || project.repository.find(file, own) !== undefined);
  if (!isModule || !/^[\w/]+\.py$/.test(path)) return `python ${path}`;
  const module = path.replace(/\.py$/, '').replace(/\/__main__$/, '');
  return `python -m ${module.replaceAll('/', '.')}`;
}

const entries =
  'main app run server wsgi asgi index application bot start api web streamlit_app Home hello worker __main__'.split(
    ' ',
  );
const folders = ['', 'src/', 'app/', 'server/', 'api/', 'backend/'];

/** Which file is run when no server is: the ones people name so, then the only one there is. */
function entryFile(project: Project, files: readonly string[]): Evidenced<string> | undefined {
  const named = project.first(...folders.flatMap((folder) => entries.map((name) => `${folder}${name}.py`)));
  if (named) return evidenced(named, conventional, named, 'entry file by its name');
  const guarded = project.repository.find(files, /^if\s+__name__\s*==\s*["']__main__["']/)?.file;
  if (guarded) return evidenced(guarded, conventional, guarded, '__main__');
  const only = files.find(
    (path) =>
      !/(?:^|\/)(?:setup|conftest|noxfile|tasks|fabfile|__init__)\.py$/.test(path) &&
      !project.relative(path).includes('/'),
  );
  return only === undefined ? undefined : evidenced(only, guessed, only, 'a source file at the top');
}

/** `python -m package` or a script that the project installs. */
function packageCommand(
  project: Project,
  pyproject: Parsed | undefined,
  files: readonly string[],
): Evidenced<string> | undefined {
  const own = valueAt(pyproject, 'project', 'scripts') ?? valueAt(pyproject, 'tool', 'poetry', 'scripts');
  const names = Object.keys(asObject(own));
  const chosen = names.find((name) => /^(?:start|serve|server|web|app|main|run)$/.test(name)) ?? names[0];
  if (chosen !== undefined && /^[\w.-]+$/.test(chosen))
    return evidenced(chosen, certain, project.at('pyproject.toml'), `script ${chosen}`);
  const main = files.find((file) => nameOf(file) === '__main__.py' && project.relative(file).includes('/'));
  if (main === undefined) return undefined;
  const parts = project.relative(main).split('/').slice(0, -1);
  if (parts[0] === 'src' && !project.has('src/__init__.py')) parts.shift();
  return evidenced(`python -m ${parts.join('.')}`, certain, main, '__main__.py');
}
