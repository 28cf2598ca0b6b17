/**
 * One file of a platform while it is read: a reader says what the platform's keys mean, and this makes of it findings
 * with their evidence. Wrong types and empty values are not there.
 */
import type { AppDraft, Declaration, ServiceFinding, VariableFinding } from '../detector.ts';
import { known } from '../ecosystems/draft.ts';
import { nodeDetectors } from '../ecosystems/node/node.ts';
import { apache, isReplacedByApache } from '../ecosystems/php/php-frameworks.ts';
import { certain, conventional, evidenced, guessed } from '../evidence.ts';
import { Project } from '../project.ts';
import { asEntries, asPort, asText } from '../readers/shape.ts';
import { type Parsed, parentOf, type Repository } from '../repository.ts';
import type { Process, Warning } from '../result.ts';
import { commandOf, portIn, splitInstall } from './commands.ts';
import { existingFile, existingFolder, filesNamed, tooLarge } from './places.ts';
import { type VariableEntry, variableIn } from './platform-variables.ts';
import { targetOf } from './target-directory.ts';

/** How much a file counts against another one; `declarations.ts` says why. */
export const precedence = {
  platform: 2,
  builder: 1.8,
  procfile: 1.6,
  compose: 0.95,
  dockerfile: 0.9,
  hint: 0.5,
} as const;

export interface DeclarationFindings {
  readonly declarations: Declaration[];
  readonly services: ServiceFinding[];
  readonly variables: VariableFinding[];
  readonly warnings: Warning[];
}

export interface Declared {
  /** The app's folder, where it is not that of the file. */
  readonly directory?: string;
  readonly precedence?: number;
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

export interface VariableOptions {
  readonly directory?: string;
  readonly build?: boolean;
}

export class DeclarationFile {
  readonly repository: Repository;
  readonly path: string;
  /** The folder of the file. */
  readonly directory: string;
  readonly config: Parsed;
  readonly findings: DeclarationFindings;
  readonly #precedence: number;

  constructor(
    repository: Repository,
    path: string,
    config: Parsed,
    findings: DeclarationFindings,
    own: number = precedence.platform,
  ) {
    this.repository = repository;
    this.path = path;
    this.directory = parentOf(path) ?? '';
    this.config = config;
    this.findings = findings;
    this.#precedence = own;
  }

  get text(): string {
    return this.repository.text(this.path) ?? '';
  }

  /** A folder as the file names it, from its own. */
  folder(value: unknown): string | undefined {
    return existingFolder(this.repository, this.directory, value);
  }

  file(value: unknown, from = this.directory): string | undefined {
    return existingFile(this.repository, from, value);
  }

  warn(code: string, message: string): void {
    this.findings.warnings.push({ code, message, file: this.path });
  }

  service(
    kind: ServiceFinding['kind'],
    note: string,
    version: unknown = null,
    directory = this.directory,
  ): void {
    const source = { file: this.path, note: note.trim() };
    this.findings.services.push({
      kind,
      version: asText(version) ?? null,
      by: 'declared',
      directory,
      source,
    });
  }

  variable(
    key: unknown,
    entry: VariableEntry,
    { directory = this.directory, build = false }: VariableOptions = {},
  ): void {
    const found = variableIn(key, entry, { file: this.path, directory, build });
    if (found) this.findings.variables.push(found);
  }

  /** `{KEY: value}`. A value here is what the platform would set, so nobody has to give it. */
  variables(record: unknown, options?: VariableOptions, counts = (_key: string) => true): void {
    for (const [key, value] of asEntries(record)) if (counts(key)) this.variable(key, { value }, options);
  }

  declare(declared: Declared): void {
    const { path: file, repository } = this;
    const { certainty = certain, directory = this.directory } = declared;
    const commands = {
      build: commandOf(declared.build),
      start: commandOf(declared.start),
      release: commandOf(declared.release),
    };
    const target = targetOf(repository, { ...declared, directory }, commands);
    const { build, release } = target.commands;
    const written = target.commands.start;
    const start = written !== undefined && isReplacedByApache(written) ? apache : written;
    const split = build === undefined ? undefined : splitInstall(build);
    const own = target.folder === '' ? commandOf(declared.install) : undefined;
    const output = folderIn(declared.output, target.folder);
    const say = <T>(value: T | undefined, note: (value: T) => string, by = certainty) =>
      value === undefined ? undefined : evidenced(value, by, file, note(value));
    const all = <T>(values: readonly (T | undefined)[] = [], note: (value: T) => string) => {
      const there = values.flatMap((value) => say(value, note) ?? []);
      return there.length === 0 ? undefined : there;
    };
    const versions = Object.entries(declared.versions ?? {}).map(([tool, line]) => [
      tool,
      evidenced(line, certain, file, `${tool} ${line}`),
    ]);
    const draft = known({
      name: say(asText(declared.name), (name) => `name: ${name}`, conventional),
      installCommand: say(own ?? split?.install ?? undefined, (line) => `installs with ${brief(line)}`),
      buildCommand: say(split?.build, (line) => `builds with ${brief(line ?? 'nothing')}`),
      startCommand: say(start, () => `starts with ${brief(written ?? '')}`),
      releaseCommand: say(release, (line) => `releases with ${brief(line)}`),
      port: say(
        asPort(declared.port) ?? (written === undefined ? undefined : portIn(written)),
        (port) => `port ${port}`,
      ),
      healthPath: say(urlPath(declared.health), (path) => `health path ${path}`),
      dockerfile: say(declared.dockerfile, (path) => `built by ${path}`),
      framework: say(declared.framework, (name) => name, conventional),
      language: say(declared.language, (name) => name, guessed),
      staticOutput:
        output === undefined
          ? undefined
          : evidenced(
              {
                directory: output,
                isSinglePage: declared.isSinglePage ?? isUsuallySinglePage(repository, target.directory),
              },
              certainty,
              file,
              `serves ${output}`,
            ),
      singlePage: say(declared.isSinglePage, (is) =>
        is ? 'every path is answered by one page' : 'no fallback',
      ),
      volumes: all(declared.volumes, (path) => `keeps ${path}`),
      processes: all(declared.processes, ({ name }) => `runs ${name}`),
      versions: versions.length === 0 ? undefined : Object.fromEntries(versions),
    } satisfies { [Key in keyof AppDraft]: unknown });
    this.findings.declarations.push({
      directory: target.directory,
      precedence: declared.precedence ?? this.#precedence,
      draft,
    });
  }
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

function urlPath(value: unknown): string | undefined {
  const text = asText(value);
  if (text === undefined || text.length > 300) return undefined;
  return /^\/?[\w@~!$&'()*+,;=:%./?-]*$/.test(text) ? `/${text.replace(/^\/+/, '')}` : undefined;
}

function brief(line: string): string {
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** A process beside the web process, where the file names a command for it. */
export function workerProcess(name: string, value: unknown): Process | undefined {
  const command = commandOf(value);
  return command === undefined ? undefined : { name, kind: 'worker', command, schedule: null };
}

/** Files of one name or a few that mean the same, and what is read from them. */
export interface PlatformReader {
  readonly names: readonly string[];
  /** Where names are not enough to find them. */
  readonly files?: (repository: Repository) => Iterable<string>;
  readonly precedence?: number;
  readonly read: (file: DeclarationFile) => void;
}

/** As data, by the ending of its name; a file in a notation of its own is read as text. */
export function readFiles(
  repository: Repository,
  { names, files, precedence: own, read }: PlatformReader,
  findings: DeclarationFindings,
): void {
  for (const path of files?.(repository) ?? filesNamed(repository, names)) {
    const large = tooLarge(repository, path);
    if (large) {
      findings.warnings.push(large);
      continue;
    }
    const config = path.endsWith('.toml')
      ? repository.toml(path)
      : /\.ya?ml$/.test(path)
        ? repository.yaml(path)
        : /\.jsonc?$|captain-definition$/.test(path)
          ? repository.json(path)
          : {};
    if (config) read(new DeclarationFile(repository, path, config, findings, own));
  }
}
