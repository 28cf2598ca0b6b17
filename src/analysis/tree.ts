/**
 * The files of one commit, as the analysis sees them: a list, and a way to read many at once. Nothing is checked out,
 * links are names and are not followed, and what lies behind (a mirror, memory in tests) is none of our business.
 */
export interface TreeEntry {
  /** With `/` between its parts, never beginning with one. */
  readonly path: string;
  readonly type: 'file' | 'symlink' | 'submodule';
  readonly size: number;
}

export interface FileTree {
  /** At most so many entries; `isComplete` tells whether there were more. */
  list(most: number, signal: AbortSignal): Promise<{ entries: readonly TreeEntry[]; isComplete: boolean }>;
  /** In one go. A file that is not there, or is no file, is left out of the answer. */
  read(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Buffer>>;
}

/** A tree in memory: for tests, and for the few files that someone hands in. */
export class MemoryTree implements FileTree {
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #links: ReadonlySet<string>;

  constructor(files: Readonly<Record<string, string | Buffer>>, links: readonly string[] = []) {
    this.#files = new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]));
    this.#links = new Set(links);
  }

  async list(most: number) {
    const entries = [...this.#files].map(([path, content]): TreeEntry => {
      return { path, type: this.#links.has(path) ? 'symlink' : 'file', size: content.length };
    });
    return { entries: entries.slice(0, most), isComplete: entries.length <= most };
  }

  async read(paths: readonly string[]) {
    const found = new Map<string, Buffer>();
    for (const path of paths) {
      const content = this.#files.get(path);
      if (content && !this.#links.has(path)) found.set(path, content);
    }
    return found;
  }
}
