/** What one commit changed, file by file, with the text of the change. */
import type { Commit } from './commits.ts';
import type { BareRepository } from './git.ts';

export interface FileChange {
  readonly status: 'added' | 'removed' | 'modified' | 'renamed' | 'copied' | 'changed';
  readonly path: string;
  readonly previousPath: string | undefined;
  readonly sha: string;
  readonly additions: number;
  readonly deletions: number;
  readonly patch: string | undefined;
}

/** GitHub leaves the text of a very large change out as well. */
const longestPatch = 100_000;

const statuses = {
  A: 'added',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'changed',
} as const;

export async function readChanges(repository: BareRepository, commit: Commit): Promise<FileChange[]> {
  const [parent] = commit.parents;
  const what = parent ? [parent, commit.sha] : ['--root', commit.sha];
  const options = ['diff-tree', '-r', '-M', '--no-commit-id', '--no-ext-diff', '--no-textconv'];
  const raw = await repository.run([...options, '-z', '--raw', '--no-abbrev', ...what]);
  const counts = await repository.run([...options, '-z', '--numstat', ...what]);
  const patches = splitPatches((await repository.run([...options, '-p', ...what])).toString());
  const lines = parseCounts(counts.toString());
  let part = 0;
  return parseRaw(raw.toString()).map((change, index) => {
    const patch = patches[part];
    // A file that became a link, say, is written as a removal and a creation.
    part += change.status === 'changed' ? 2 : 1;
    const [additions = 0, deletions = 0] = lines[index] ?? [];
    return { ...change, additions, deletions, patch: change.status === 'changed' ? undefined : patch };
  });
}

function parseRaw(text: string): Pick<FileChange, 'status' | 'path' | 'previousPath' | 'sha'>[] {
  const tokens = text.split('\0');
  const found = [];
  for (let at = 0; at < tokens.length - 1; at++) {
    const [, , before = '', after = '', kind = 'M'] = (tokens[at] ?? '').split(' ');
    const status = statusOf(kind);
    const previousPath = status === 'renamed' || status === 'copied' ? tokens[++at] : undefined;
    const path = tokens[++at] ?? '';
    found.push({ status, path, previousPath, sha: status === 'removed' ? before : after });
  }
  return found;
}

function statusOf(kind: string): FileChange['status'] {
  const found = Object.entries(statuses).find(([letter]) => kind.startsWith(letter));
  return found?.[1] ?? 'changed';
}

/** A renamed file has an empty name here, followed by both names; a binary one has `-` for its counts. */
function parseCounts(text: string): (readonly [number, number])[] {
  const tokens = text.split('\0');
  const found = [];
  for (let at = 0; at < tokens.length - 1; at++) {
    const [added = '0', removed = '0', path = ''] = (tokens[at] ?? '').split('\t');
    if (path === '') at += 2;
    found.push([Number(added) || 0, Number(removed) || 0] as const);
  }
  return found;
}

/** Lines of a change begin with a sign or a space, so that `diff --git` at a line's start is always a head. */
function splitPatches(text: string): (string | undefined)[] {
  return text
    .split(/^(?=diff --git )/m)
    .filter(Boolean)
    .map((part) => {
      const start = part.search(/^@@ /m);
      if (start < 0 || part.length > longestPatch) return undefined;
      return part.slice(start).replace(/\n$/, '');
    });
}
