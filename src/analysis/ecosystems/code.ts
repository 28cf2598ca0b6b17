/**
 * Looking into source text for which there is no parser at hand: line by line, with lines and files bounded, so that
 * no pattern ever sees more than a few hundred characters.
 */
import { join, nameOf, parentOf, type Repository } from '../repository.ts';

export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly match: RegExpExecArray;
}

const longestLine = 400;
const mostLines = 4_000;

/** Folders whose code is not the app's own. */
const foreign = new Set(
  `node_modules vendor test tests spec specs __tests__ testing testdata fixtures e2e examples samples docs
   dist build target obj _build deps venv .venv site-packages __pycache__ .git .github .vscode .idea
   .devcontainer benchmarks bench third_party coverage priv Pods .dart_tool zig-cache`.split(/\s+/),
);

/** Lines of a file; longer ones are cut, since nobody writes what we look for so far to the right. */
export function linesOf(repository: Repository, path: string): readonly string[] {
  return repository.parsed(path, 'lines', splitLines) ?? [];
}

function splitLines(text: string): readonly string[] {
  const lines = text.slice(0, 400_000).split('\n', mostLines);
  return lines.map((line) => (line.length > longestLine ? line.slice(0, longestLine) : line).trimEnd());
}

export function findIn(repository: Repository, path: string, pattern: RegExp): Hit | undefined {
  const lines = linesOf(repository, path);
  for (let at = 0; at < lines.length; at += 1) {
    const text = lines[at] ?? '';
    const match = pattern.exec(text);
    if (match) return { file: path, line: at + 1, text, match };
  }
  return undefined;
}

export function findInAny(
  repository: Repository,
  paths: readonly string[],
  pattern: RegExp,
): Hit | undefined {
  for (const path of paths) {
    const hit = findIn(repository, path, pattern);
    if (hit) return hit;
  }
  return undefined;
}

export function findAll(
  repository: Repository,
  paths: readonly string[],
  pattern: RegExp,
  most = 50,
): readonly Hit[] {
  const hits: Hit[] = [];
  for (const path of paths) {
    const lines = linesOf(repository, path);
    for (let at = 0; at < lines.length && hits.length < most; at += 1) {
      const text = lines[at] ?? '';
      const match = pattern.exec(text);
      if (match) hits.push({ file: path, line: at + 1, text, match });
    }
  }
  return hits;
}

/**
 * The app's own code under a directory, nearest first: nothing of tests and vendored code, and nothing of folders
 * that are projects of their own because one of `boundaries` is in them.
 */
export function ownSources(
  repository: Repository,
  directory: string,
  endings: readonly string[],
  boundaries: readonly string[] = [],
  most = 400,
): readonly string[] {
  const inside = new Map<string, boolean>([[directory, true]]);
  const isOwn = (folder: string): boolean => {
    const seen = inside.get(folder);
    if (seen !== undefined) return seen;
    const files = repository.directory(folder)?.files;
    const own =
      !foreign.has(nameOf(folder)) &&
      !boundaries.some((name) => files?.has(name)) &&
      isOwn(parentOf(folder) ?? '');
    inside.set(folder, own);
    return own;
  };
  const found = [...repository.filesUnder(directory, endings)].filter((path) => isOwn(parentOf(path) ?? ''));
  const depth = (path: string) => path.split('/').length;
  return found.sort((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1)).slice(0, most);
}

/** The path as it is said from inside the directory. */
export function within(directory: string, path: string): string {
  return directory === '' ? path : path.slice(directory.length + 1);
}

/** Files right in a directory whose names end so, in order. */
export function filesIn(repository: Repository, directory: string, ending: string): readonly string[] {
  const names = [...(repository.directory(directory)?.files ?? [])];
  return names
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(directory, name));
}
