/**
 * A directory as a detector looks at it. Names are those of files in or below it; paths, as in the answers, are from the
 * root of the repository.
 */
import { type Hit, join, nameOf, type Parsed, parentOf, type Repository } from './repository.ts';

/** Folders whose code is not the app's own. */
const foreign = new Set(
  `node_modules vendor test tests spec specs __tests__ testing testdata fixtures e2e examples samples docs
   dist build target obj _build deps venv .venv site-packages __pycache__ .git .github .vscode .idea
   .devcontainer benchmarks bench third_party coverage priv Pods .dart_tool zig-cache`.split(/\s+/),
);
const mostSources = 400;

export class Project {
  readonly repository: Repository;
  /** `''` for the root. */
  readonly path: string;
  /** Names of files right in it. */
  readonly files: ReadonlySet<string>;
  /** Names of directories right in it. */
  readonly folders: ReadonlySet<string>;

  #endings: ReadonlySet<string> | undefined;

  constructor(repository: Repository, path: string) {
    const { files, folders } = repository.directory(path) ?? {};
    this.repository = repository;
    this.path = path;
    this.files = files ?? new Set();
    this.folders = folders ?? new Set();
  }

  /** Endings of the names of its files, without the dot. */
  get endings(): ReadonlySet<string> {
    this.#endings ??= new Set([...this.files].map((name) => name.slice(name.lastIndexOf('.') + 1)));
    return this.#endings;
  }

  /** The analysis is about this directory. */
  get isRoot(): boolean {
    return this.path === this.repository.root;
  }

  at(name: string): string {
    return join(this.path, name);
  }

  relative(path: string): string {
    return this.path === '' ? path : path.slice(this.path.length + 1);
  }

  has(name: string): boolean {
    // Most names are of files right in it, and a path that is put together has to be hashed each time.
    return name.includes('/') ? this.repository.has(this.at(name)) : this.files.has(name);
  }

  hasFolder(name: string): boolean {
    return this.repository.directory(this.at(name)) !== undefined;
  }

  /** The path of the first of these that is a file. */
  first(...names: readonly string[]): string | undefined {
    const found = names.find((name) => this.has(name));
    return found === undefined ? undefined : this.at(found);
  }

  /** Files right in it whose names end so, in order. */
  withEnding(...endings: readonly string[]): readonly string[] {
    const names = [...this.files].sort();
    return endings.flatMap((ending) =>
      names.filter((name) => name.endsWith(ending)).map((name) => this.at(name)),
    );
  }

  /** The nearest file of one of these names, here or above. */
  upwards(...names: readonly string[]): string | undefined {
    return this.repository.upwards(this.path, names);
  }

  find(name: string, pattern: RegExp): Hit | undefined {
    return this.repository.find(this.at(name), pattern);
  }

  capture(name: string, pattern: RegExp): string | undefined {
    return this.repository.capture(this.at(name), pattern);
  }

  text(name: string): string | undefined {
    return this.repository.text(this.at(name));
  }

  json(name: string): Parsed | undefined {
    return this.repository.json(this.at(name));
  }

  yaml(name: string): Parsed | undefined {
    return this.repository.yaml(this.at(name));
  }

  toml(name: string): Parsed | undefined {
    return this.repository.toml(this.at(name));
  }

  /**
   * The app's own code, nearest first: nothing of tests and vendored code, and nothing of folders that are projects of
   * their own because one of `boundaries` is in them.
   */
  sources(endings: readonly string[], boundaries: readonly string[] = []): readonly string[] {
    const inside = new Map<string, boolean>([[this.path, true]]);
    const isOwn = (folder: string): boolean => {
      const seen = inside.get(folder);
      if (seen !== undefined) return seen;
      const files = this.repository.directory(folder)?.files;
      const own =
        !foreign.has(nameOf(folder)) &&
        !boundaries.some((name) => files?.has(name)) &&
        isOwn(parentOf(folder) ?? '');
      inside.set(folder, own);
      return own;
    };
    const found = [...this.repository.filesUnder(this.path, endings)].filter((path) =>
      isOwn(parentOf(path) ?? ''),
    );
    const depth = (path: string) => path.split('/').length;
    return found
      .sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1))
      .slice(0, mostSources);
  }
}
