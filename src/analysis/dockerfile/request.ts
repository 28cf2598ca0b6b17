/** What is known when a Dockerfile is written, put together once for all ecosystems. */
import { Project } from '../project.ts';
import { join, type Repository } from '../repository.ts';
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
} from './text/grammar.ts';

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
  /** The app's folder; its path is from the root of the repository, which is what is sent to be built. */
  readonly project: Project;
  readonly directory: string;
  /** What `COPY` copies of it. */
  readonly source: string;
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
    project: new Project(files, directory),
    directory,
    source: folderSource(directory),
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

/** A folder of the repository as `COPY` takes it. */
export function folderSource(path: string): string {
  return path === '' ? '.' : `${path}/`;
}

/** Folders that the app writes to, in the image. */
export function writtenFolders(request: Request, home: string): string[] {
  return request.app.volumes
    .filter((path) => isPlainPath(path) && path !== '/' && path !== '.')
    .map((path) => (path.startsWith('/') ? path : join(home, path.replace(/^\.\//, ''))));
}

/** The start command, which an app that is no static site cannot do without. */
export function requiredStart({ startCommand }: Request, example?: string): string {
  if (startCommand !== null) return startCommand;
  const hint = example === undefined ? 'Set a start command.' : `Set a start command, as in ${example}.`;
  throw wrong('startCommand', 'Nothing says how this app is started.', hint);
}

/** What a person set, else `usual`: the command of the analysis is typed by people, ours fits the stage. */
export function ownInstall(request: Request, usual: string): string {
  return request.isSet('installCommand') ? (request.installCommand ?? 'true') : usual;
}
