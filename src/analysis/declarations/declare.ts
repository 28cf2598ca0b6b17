/**
 * From what a file says to a declaration: every reader fills in what its platform's keys mean, and this makes of it
 * values with a source. Wrong types and empty values are not there.
 */
import type { AppDraft, Declaration } from '../detector.ts';
import { nodeDetectors } from '../ecosystems/node/node.ts';
import { certain, conventional, type Evidenced, evidenced, guessed } from '../evidence.ts';
import { Project } from '../project.ts';
import { asPort, asText } from '../readers/shape.ts';
import type { Repository } from '../repository.ts';
import type { Process } from '../result.ts';
import { commandOf, portIn, splitInstall } from './commands.ts';
import { placeOf } from './place-of.ts';

export interface Saying {
  readonly file: string;
  readonly directory: string;
  readonly strength: number;
  readonly name?: unknown;
  readonly install?: unknown;
  /** One command for installing and building; it is taken apart. */
  readonly build?: unknown;
  readonly start?: unknown;
  readonly release?: unknown;
  readonly port?: unknown;
  readonly health?: unknown;
  /** From the root of the repository. */
  readonly dockerfile?: string | undefined;
  readonly output?: unknown;
  readonly isSinglePage?: boolean | undefined;
  readonly volumes?: readonly (string | undefined)[];
  readonly processes?: readonly (Process | undefined)[];
  readonly versions?: Readonly<Record<string, string>>;
  readonly framework?: string | undefined;
  readonly language?: string | undefined;
  /** Of the commands, where the file is about something else than how the app is run in production. */
  readonly certainty?: number;
}

export function declare(repository: Repository, saying: Saying): Declaration {
  const { file, certainty = certain } = saying;
  const commands = {
    build: commandOf(saying.build),
    start: commandOf(saying.start),
    release: commandOf(saying.release),
  };
  const { directory: at, folder, commands: placed } = placeOf(repository, saying, commands);
  const { build, start, release } = placed;
  const split = build === undefined ? undefined : splitInstall(build);
  const install =
    folder === ''
      ? (commandOf(saying.install) ?? split?.install ?? undefined)
      : (split?.install ?? undefined);
  const port = asPort(saying.port) ?? (start === undefined ? undefined : portIn(start));
  const output = folderIn(saying.output, folder);
  const health = pathOf(saying.health);
  const say = <T>(value: T, note: string): Evidenced<T> => evidenced(value, certainty, file, note);
  const draft: AppDraft = {
    ...optional(
      'name',
      told1(asText(saying.name), (name) => evidenced(name, conventional, file, `name: ${name}`)),
    ),
    ...optional(
      'installCommand',
      told1(install, (line) => say(line, `installs with ${brief(line)}`)),
    ),
    ...optional(
      'buildCommand',
      told1(split, (line) => say(line.build, `builds with ${brief(line.build ?? 'nothing')}`)),
    ),
    ...optional(
      'startCommand',
      told1(start, (line) => say(line, `starts with ${brief(line)}`)),
    ),
    ...optional(
      'releaseCommand',
      told1(release, (line) => say(line, `releases with ${brief(line)}`)),
    ),
    ...optional(
      'port',
      told1(port, (number) => say(number, `port ${number}`)),
    ),
    ...optional(
      'healthPath',
      told1(health, (path) => say(path, `health path ${path}`)),
    ),
    ...optional(
      'dockerfile',
      told1(saying.dockerfile, (path) => say(path, `built by ${path}`)),
    ),
    ...optional(
      'framework',
      told1(saying.framework, (name) => evidenced(name, conventional, file, name)),
    ),
    ...optional(
      'language',
      told1(saying.language, (name) => evidenced(name, guessed, file, name)),
    ),
    ...optional(
      'staticOutput',
      told1(output, (directory) =>
        say(
          { directory, isSinglePage: saying.isSinglePage ?? isUsuallySinglePage(repository, at) },
          `serves ${directory}`,
        ),
      ),
    ),
    ...optional(
      'singlePage',
      told1(saying.isSinglePage, (is) => say(is, is ? 'every path is answered by one page' : 'no fallback')),
    ),
    ...many('volumes', saying.volumes, (path) => say(path, `keeps ${path}`)),
    ...many('processes', saying.processes, (process) => say(process, `runs ${process.name}`)),
    ...versionsOf(saying),
  };
  return { directory: at, strength: saying.strength, draft };
}

/** A file that names the folder and no fallback says nothing of it; the framework does. */
function isUsuallySinglePage(repository: Repository, path: string): boolean {
  const project = new Project(repository, path);
  const candidates = nodeDetectors.flatMap((detector) => detector.detect(project));
  return candidates.some(({ draft }) => draft.staticOutput?.value?.isSinglePage === true);
}

/** A folder inside the app, as files write it: `./dist/`, `/dist`, `dist`. */
export function folderIn(value: unknown, under = ''): string | undefined {
  const text = asText(value);
  if (text === undefined || text.length > 300 || text.includes('..') || text.includes('\0')) return undefined;
  const plain = text
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  const inner = under !== '' && `${plain}/`.startsWith(`${under}/`) ? plain.slice(under.length + 1) : plain;
  return inner === '' ? '.' : inner;
}

function pathOf(value: unknown): string | undefined {
  const text = asText(value);
  if (text === undefined || text.length > 300) return undefined;
  return /^\/?[\w@~!$&'()*+,;=:%./?-]*$/.test(text) ? `/${text.replace(/^\/+/, '')}` : undefined;
}

function versionsOf({ versions = {}, file }: Saying): Pick<AppDraft, 'versions'> {
  const entries = Object.entries(versions);
  if (entries.length === 0) return {};
  const all = entries.map(([tool, line]) => [tool, evidenced(line, certain, file, `${tool} ${line}`)]);
  return { versions: Object.fromEntries(all) };
}

function told1<T, R>(value: T | undefined, make: (value: T) => R): R | undefined {
  return value === undefined ? undefined : make(value);
}

function optional<K extends string, V>(key: K, value: V | undefined): { [key in K]?: V } {
  const made: { [key in K]?: V } = {};
  if (value !== undefined) made[key] = value;
  return made;
}

function many<K extends string, T, V>(
  key: K,
  values: readonly (T | undefined)[] | undefined,
  make: (value: T) => V,
) {
  const all = (values ?? []).flatMap((value) => (value === undefined ? [] : [make(value)]));
  return optional(key, all.length === 0 ? undefined : all);
}

function brief(line: string): string {
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
