/**
 * The repository as detectors see it: directories and files by name, with everything that may be read already in
 * memory. Parsed forms are made once and kept. A file that cannot be parsed is as good as absent, with a warning.
 */
import { parse as parseToml } from 'smol-toml';
import { Folders } from './folders.ts';
import { parseJsonc } from './readers/json.ts';
import type { ParsedAhead } from './readers/parse-ahead.ts';
import type { SourceFacts } from './readers/source-facts.ts';
import { parseYaml } from './readers/yaml.ts';
import type { Warning } from './result.ts';
import type { TreeEntry } from './tree.ts';

/** Where a pattern was found in a text. */
export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly match: RegExpExecArray;
}

const longestLine = 400;
const mostLines = 4_000;

/** YAML that was not parsed ahead; for some texts the time grows with the square of their length. */
const mostYamlHere = 32 * 1024;

export type Parsed = { readonly [key: string]: unknown };

export interface Directory {
  /** `''` for the root. */
  readonly path: string;
  /** Names of files right in it. */
  readonly files: ReadonlySet<string>;
  /** Names of directories right in it. */
  readonly folders: ReadonlySet<string>;
}

export interface RepositoryOptions {
  readonly ahead?: ParsedAhead;
  readonly folders?: Folders;
  /** Told each file that is looked into. */
  readonly note?: (what: string) => void;
}

const nothingAhead: ParsedAhead = { sources: new Map(), yaml: new Map() };

export class Repository {
  readonly entries: readonly TreeEntry[];
  readonly folders: Folders;
  readonly directories: ReadonlyMap<string, Directory>;
  /** Files that could not be parsed, as far as somebody has asked for them. */
  readonly unreadable: Warning[] = [];
  readonly sources: ReadonlyMap<string, SourceFacts>;
  readonly #contents: ReadonlyMap<string, Buffer>;
  readonly #texts = new Map<string, string>();
  readonly #parsed = new Map<string, unknown>();
  readonly #derived = new Map<(repository: Repository) => unknown, unknown>();
  readonly #yaml: ParsedAhead['yaml'];
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #note: (what: string) => void;
  /** In order, so that what lies under a folder is one stretch of it. */
  #readPaths: readonly string[] | undefined;

  constructor(
    entries: readonly TreeEntry[],
    contents: ReadonlyMap<string, Buffer>,
    {
      ahead = nothingAhead,
      folders = new Folders(entries, ''),
      note = () => undefined,
    }: RepositoryOptions = {},
  ) {
    this.#note = note;
    this.folders = folders;
    this.entries = entries;
    this.sources = ahead.sources;
    this.#yaml = ahead.yaml;
    this.#contents = contents;
    const sizes = new Map<string, number>();
    for (const { path, type, size } of entries) if (type === 'file') sizes.set(path, size);
    this.#sizes = sizes;
    this.directories = directoriesOf(entries);
  }

  /** The folder that the analysis is about; `''` for the whole. */
  get root(): string {
    return this.folders.root;
  }

  directory(path: string): Directory | undefined {
    return this.directories.get(path);
  }

  /** There, whether or not it was read. */
  has(path: string): boolean {
    return this.#sizes.has(path);
  }

  /** The first of these names that is a file in the directory. */
  firstOf(directory: string, names: readonly string[]): string | undefined {
    const files = this.directories.get(directory)?.files;
    const name = names.find((each) => files?.has(each));
    return name === undefined ? undefined : join(directory, name);
  }

  /** The nearest file of one of these names, from the directory upwards. */
  upwards(directory: string, names: readonly string[]): string | undefined {
    for (let at: string | undefined = directory; at !== undefined; at = parentOf(at)) {
      const found = this.firstOf(at, names);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  bytes(path: string): Buffer | undefined {
    return this.#contents.get(path);
  }

  text(path: string): string | undefined {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    const bytes = this.#contents.get(path);
    if (!bytes) return undefined;
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    this.#texts.set(path, text);
    return text;
  }

  /** JSON with comments and trailing commas, as tools write it. */
  json(path: string): Parsed | undefined {
    return this.#parse(path, parseJsonc, 'json');
  }

  yaml(path: string): Parsed | undefined {
    return this.#parse(path, (text) => this.#yamlOf(path, text), 'yaml');
  }

  toml(path: string): Parsed | undefined {
    return this.#parse(path, parseToml, 'toml');
  }

  /** Anything else that is worth parsing once: `parse` is the key together with the path. */
  parsed<T>(path: string, name: string, parse: (text: string) => T): T | undefined {
    const key = `${name}\0${path}`;
    if (this.#parsed.has(key)) return this.#parsed.get(key) as T | undefined;
    const text = this.text(path);
    const value = text === undefined ? undefined : this.#try(path, () => parse(text));
    this.#parsed.set(key, value);
    return value;
  }

  /** What `make` finds in the whole repository, once. */
  derived<T>(make: (repository: Repository) => T): T {
    if (!this.#derived.has(make)) this.#derived.set(make, make(this));
    return this.#derived.get(make) as T;
  }

  /** What a JavaScript or TypeScript file says: see there. Parsed before. */
  source(path: string): SourceFacts | undefined {
    return this.sources.get(path);
  }

  /** Files that were read, under a directory, whose name ends in one of these. */
  *filesUnder(directory: string, endings: readonly string[]): Generator<string> {
    this.#readPaths ??= [...this.#contents.keys()].sort();
    const prefix = directory === '' ? '' : `${directory}/`;
    for (let at = firstFrom(this.#readPaths, prefix); at < this.#readPaths.length; at += 1) {
      const path = this.#readPaths[at] ?? '';
      if (!path.startsWith(prefix)) return;
      if (endings.some((ending) => path.endsWith(ending))) yield path;
    }
  }

  /** Lines of a file; longer ones are cut, so that no pattern sees more than a few hundred characters. */
  lines(path: string): readonly string[] {
    return this.parsed(path, 'lines', splitLines) ?? [];
  }

  /** The first line in any of the files that matches. */
  find(paths: string | readonly string[], pattern: RegExp): Hit | undefined {
    return this.findAll(typeof paths === 'string' ? [paths] : paths, pattern, 1)[0];
  }

  /** What the first group of the pattern matches in the first line that it matches at all. */
  capture(paths: string | readonly string[], pattern: RegExp): string | undefined {
    return this.find(paths, pattern)?.match[1];
  }

  findAll(paths: readonly string[], pattern: RegExp, most: number): readonly Hit[] {
    const hits: Hit[] = [];
    for (const file of paths) {
      this.#note(file);
      const lines = this.lines(file);
      for (let at = 0; at < lines.length && hits.length < most; at += 1) {
        const text = lines[at] ?? '';
        const match = pattern.exec(text);
        if (match) hits.push({ file, line: at + 1, text, match });
      }
      if (hits.length >= most) break;
    }
    return hits;
  }

  #yamlOf(path: string, text: string): unknown {
    const outcome = this.#yaml.get(path);
    if (outcome && 'failed' in outcome) throw new Error(outcome.failed);
    if (outcome) return outcome.value;
    if (text.length > mostYamlHere) throw new Error(`it is longer than ${mostYamlHere} characters`);
    return parseYaml(text);
  }

  #parse(path: string, parse: (text: string) => unknown, name: string): Parsed | undefined {
    const value = this.parsed(path, name, parse);
    return isParsed(value) ? value : undefined;
  }

  #try<T>(path: string, parse: () => T): T | undefined {
    this.#note(path);
    try {
      return parse();
    } catch (error) {
      const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      const message = `${path} cannot be read: ${why.slice(0, 200)}`;
      this.unreadable.push({ code: 'unreadable_file', message, file: path });
      return undefined;
    }
  }
}

function splitLines(text: string): readonly string[] {
  const lines = text.slice(0, 400_000).split('\n', mostLines);
  return lines.map((line) => (line.length > longestLine ? line.slice(0, longestLine) : line).trimEnd());
}

export function isParsed(value: unknown): value is Parsed {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}

export function parentOf(directory: string): string | undefined {
  if (directory === '') return undefined;
  const end = directory.lastIndexOf('/');
  return end === -1 ? '' : directory.slice(0, end);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function firstFrom(sorted: readonly string[], prefix: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < prefix) low = middle + 1;
    else high = middle;
  }
  return low;
}

function directoriesOf(entries: readonly TreeEntry[]): ReadonlyMap<string, Directory> {
  const all = new Map<string, { path: string; files: Set<string>; folders: Set<string> }>();
  const make = (path: string): { files: Set<string>; folders: Set<string> } => {
    const known = all.get(path);
    if (known) return known;
    const made = { path, files: new Set<string>(), folders: new Set<string>() };
    all.set(path, made);
    const parent = parentOf(path);
    if (parent !== undefined) make(parent).folders.add(nameOf(path));
    return made;
  };
  make('');
  for (const { path, type } of entries) {
    if (type !== 'file') continue;
    const end = path.lastIndexOf('/');
    make(end === -1 ? '' : path.slice(0, end)).files.add(path.slice(end + 1));
  }
  return all;
}
