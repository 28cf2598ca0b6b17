/** What is known when a Dockerfile is written, put together once for all ecosystems. */
import { isParsed, join, type Parsed, type Repository } from '../repository.ts';
import type { App, Monorepo } from '../result.ts';
import {
  commandText,
  isPlainPath,
  packageName,
  plainPath,
  portNumber,
  urlPath,
  variableKey,
  wrong,
} from './grammar.ts';

export interface Overrides {
  /** `null`: there is none, whatever the analysis says. */
  readonly installCommand?: string | null;
  readonly buildCommand?: string | null;
  readonly startCommand?: string;
  readonly staticOutput?: App['staticOutput'];
  readonly port?: number;
  readonly healthPath?: string | null;
  readonly versions?: Readonly<Record<string, string>>;
  /** Debian packages that the build and the app need. */
  readonly systemPackages?: readonly string[];
}

export interface BuildVariable {
  readonly key: string;
  readonly secret: boolean;
}

export interface GenerateOptions {
  readonly buildVariables: readonly BuildVariable[];
  /** With every entry of the commit, and the contents of what `filesToRead` names. */
  readonly files: Repository;
  readonly overrides?: Overrides;
  /**
   * Caches are shared by all builds on a server whose ids are equal, so that a build could leave something for
   * another. Whoever trusts each other gets the same word here.
   */
  readonly cacheScope?: string;
}

export interface Request {
  readonly app: App;
  readonly monorepo: Monorepo | null;
  readonly files: Repository;
  readonly variables: readonly BuildVariable[];
  readonly cacheScope: string | null;
  readonly systemPackages: readonly string[];
  readonly versions: Readonly<Record<string, string>>;
  readonly installCommand: string | null;
  readonly buildCommand: string | null;
  readonly startCommand: string | null;
  readonly staticOutput: App['staticOutput'];
  readonly port: number | null;
  readonly healthPath: string | null;
  /** A command that a person set is taken as it is, even where we would know better. */
  readonly isSet: (field: 'installCommand' | 'buildCommand' | 'startCommand') => boolean;
  /** The app's folder from the root of the repository; `''` for the root. */
  readonly directory: string;
  /** Everything that is run in the image beside the start command: release and processes. */
  readonly otherCommands: readonly string[];
}

export function requestOf(app: App, monorepo: Monorepo | null, options: GenerateOptions): Request {
  const { buildVariables, files, overrides = {}, cacheScope = null } = options;
  const directory = app.path === '.' || app.path === '' ? '' : plainPath(app.path);
  if (directory.startsWith('/')) throw wrong('path', 'The folder of the app is not inside the repository.');
  if (cacheScope !== null && !/^[a-z0-9-]{1,80}$/.test(cacheScope)) {
    throw wrong('cacheScope', 'The scope of caches has only small letters, digits and hyphens.');
  }
  const command = (field: 'installCommand' | 'buildCommand' | 'startCommand') => {
    const value = overrides[field] === undefined ? app[field] : overrides[field];
    return value === null || value.trim() === '' ? null : commandText(value, field);
  };
  const staticOutput = overrides.staticOutput === undefined ? app.staticOutput : overrides.staticOutput;
  if (staticOutput) plainPath(staticOutput.directory.replace(/^(\.\.\/)+/, '') || '.');
  const port = overrides.port ?? app.port;
  const healthPath = overrides.healthPath === undefined ? app.healthPath : overrides.healthPath;
  return {
    app,
    monorepo,
    files,
    directory,
    otherCommands: [
      ...(app.releaseCommand === null ? [] : [app.releaseCommand]),
      ...app.processes.map(({ command }) => command),
    ],
    cacheScope,
    staticOutput,
    variables: buildVariables.map(({ key, secret }) => ({ key: variableKey(key), secret })),
    systemPackages: (overrides.systemPackages ?? []).map(packageName),
    versions: { ...app.versions, ...overrides.versions },
    installCommand: command('installCommand'),
    buildCommand: command('buildCommand'),
    startCommand: command('startCommand'),
    port: port === null ? null : portNumber(port),
    healthPath: healthPath === null ? null : urlPath(healthPath),
    isSet: (field) => typeof overrides[field] === 'string',
  };
}

/** A part of a parsed file that is a table; nothing where it is something else. */
export function table(value: unknown, ...keys: readonly string[]): Parsed {
  let at: unknown = value;
  for (const key of keys) at = isParsed(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return isParsed(at) ? at : {};
}

export function text(value: unknown, ...keys: readonly string[]): string | null {
  const last = keys.at(-1);
  if (last === undefined) return typeof value === 'string' ? value : null;
  const holder = table(value, ...keys.slice(0, -1));
  const found = Object.hasOwn(holder, last) ? holder[last] : undefined;
  return typeof found === 'string' ? found : null;
}

/** Folders that the app writes to, in the image. */
export function writtenFolders(request: Request, home: string): string[] {
  return request.app.volumes
    .filter((path) => isPlainPath(path) && path !== '/' && path !== '.')
    .map((path) => (path.startsWith('/') ? path : join(home, path.replace(/^\.\//, ''))));
}

/** Names of files right in the app's folder. */
export function filesIn(request: Request, directory = request.directory): ReadonlySet<string> {
  return request.files.directory(directory)?.files ?? new Set();
}

/** Where a file of the app lies in the repository, which is what is sent to be built. */
export function inApp(request: Request, name: string): string {
  return join(request.directory, name);
}
