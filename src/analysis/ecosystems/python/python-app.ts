/** Where in the code the application object is, and how a server names it. */
import type { Project } from '../../project.ts';
import { type Hit, nameOf, parentOf, type Repository } from '../../repository.ts';

export interface AppObject {
  readonly framework: string;
  /** As in `package.module`, seen from `folder`. */
  readonly module: string;
  readonly object: string;
  /** The object is a function that makes the app. */
  readonly isFactory: boolean;
  /** Where modules are looked for, if it is not the app's own folder. */
  readonly folder: string | undefined;
  readonly hit: Hit;
}

/** Classes whose instance is the application, with the framework they mean. */
const classes: Readonly<Record<string, string>> = {
  FastAPI: 'fastapi',
  Flask: 'flask',
  APIFlask: 'flask',
  OpenAPI: 'flask',
  Litestar: 'litestar',
  Starlette: 'starlette',
  Quart: 'quart',
  Sanic: 'sanic',
  Dash: 'dash',
  Bottle: 'bottle',
  BlackSheep: 'blacksheep',
  Robyn: 'robyn',
  Esmerald: 'esmerald',
  FastHTML: 'fasthtml',
  fast_app: 'fasthtml',
  FlaskApp: 'connexion',
  AsyncApp: 'connexion',
  Ravyn: 'ravyn',
};
const names = Object.keys(classes).join('|');
const made = new RegExp(
  String.raw`^(\s*)(?:return\s+)?(?:(\w+)(?:\s*,\s*\w+)*\s*(?::\s*[\w.]+)?\s*=\s*)?(?:\w+\.){0,2}(${names}|falcon\.(?:asgi\.)?(?:App|API))\(`,
);
const preferred = ['main', 'app', 'server', 'wsgi', 'asgi', 'api', 'application', 'index', 'run', '__init__'];

export function findAppObject(
  project: Project,
  files: readonly string[],
  isWanted: (framework: string) => boolean,
): AppObject | undefined {
  const { repository } = project;
  const hits = repository.findAll(files, made, 40).filter(({ match }) => isWanted(frameworkOf(match)));
  const atTop = hits.filter(({ match }) => match[1] === '' && match[2] !== undefined).sort(byName);
  const [top] = atTop;
  // A Dash app is given its Flask server, so it is the one that is meant.
  const best = atTop.find(({ match }) => frameworkOf(match) === 'dash') ?? top;
  if (best) return objectOf(project, best, best.match[2] ?? 'app', false);
  const inside = hits.find(({ match }) => match[1] !== '');
  const factory = inside && functionAround(repository, inside);
  if (!inside || factory === undefined) return undefined;
  const call = new RegExp(String.raw`^(\w+)\s*=\s*(?:\w+\.)*${factory}\(`);
  const [called] = [...repository.findAll(files, call, 10)].sort(byName);
  if (called) {
    return {
      ...objectOf(project, called, called.match[1] ?? 'app', false),
      framework: frameworkOf(inside.match),
    };
  }
  return objectOf(project, inside, factory, true);
}

function frameworkOf(match: RegExpExecArray): string {
  const name = match[3] ?? '';
  return name.startsWith('falcon') ? 'falcon' : (classes[name] ?? '');
}

function byName(one: Hit, other: Hit): number {
  const depth = (hit: Hit) => hit.file.split('/').length;
  const rank = (hit: Hit) => {
    const at = preferred.indexOf(nameOf(hit.file).replace(/\.py$/, ''));
    return at === -1 ? preferred.length : at;
  };
  return depth(one) - depth(other) || rank(one) - rank(other) || (one.file < other.file ? -1 : 1);
}

function functionAround(repository: Repository, { file, line }: Hit): string | undefined {
  const lines = repository.lines(file);
  for (let at = line - 2; at >= 0; at -= 1) {
    const text = lines[at] ?? '';
    const name = /^(?:async )?def (\w+)\(/.exec(text)?.[1];
    if (name !== undefined) return name;
    if (/^class \w/.test(text)) return undefined;
  }
  return undefined;
}

function objectOf(project: Project, hit: Hit, object: string, isFactory: boolean): AppObject {
  const { module, folder } = moduleOf(project, hit.file);
  return { framework: frameworkOf(hit.match), module, object, isFactory, folder, hit };
}

/** `src/` is where modules are looked for, unless it is a package itself. */
export function moduleOf(project: Project, file: string): { module: string; folder: string | undefined } {
  const parts = project.relative(file).replace(/\.py$/, '').split('/');
  if (parts.at(-1) === '__init__') parts.pop();
  const top = parts[0] ?? '';
  const isRoot =
    parts.length > 1 &&
    !project.has(`${top}/__init__.py`) &&
    (top === 'src' || importsBeside(project, file, top));
  if (!isRoot) return { module: parts.join('.'), folder: undefined };
  const isInstalled = parts.length > 2 && project.first('pyproject.toml', 'setup.py') !== undefined;
  return { module: parts.slice(1).join('.'), folder: isInstalled ? undefined : top };
}

/** Whether a file in a folder names its neighbours without the folder: `from routes import x` beside routes.py. */
function importsBeside(project: Project, file: string, top: string): boolean {
  const { repository } = project;
  const folder = repository.directory(project.at(top));
  if (!folder || (parentOf(file) ?? '') !== folder.path) return false;
  return repository.lines(file).some((line) => {
    const name = /^(?:from|import) (\w+)/.exec(line)?.[1];
    return name !== undefined && (folder.files.has(`${name}.py`) || folder.folders.has(name));
  });
}
