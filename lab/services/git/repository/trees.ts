/** Folders of a commit, and what lies at a path. */
import type { BareRepository } from './git.ts';

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  /** Bytes; 0 where it is no file. */
  readonly size: number;
  readonly path: string;
}

/** With `deep`, folders are listed together with all that is in them. */
export async function listTree(repository: BareRepository, tree: string, deep = false): Promise<TreeEntry[]> {
  return parse(await repository.run(['ls-tree', '-l', '-z', ...(deep ? ['-r', '-t'] : []), tree]));
}

/** What lies at each of the paths, for those where something does. */
export async function entriesAt(
  repository: BareRepository,
  commit: string,
  paths: readonly string[],
): Promise<TreeEntry[]> {
  if (paths.length === 0) return [];
  return parse(await repository.run(['ls-tree', '-l', '-z', commit, '--', ...paths]));
}

/** A path as it may stand in a tree: no way out, and nothing that a clone would take for its own. */
export function isTreePath(path: string): boolean {
  return (
    !path.includes('\0') &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !/^\.git$/i.test(part))
  );
}

/** The addresses of the submodules by their path, as the commit has them. */
export async function submoduleUrls(
  repository: BareRepository,
  commit: string,
): Promise<Map<string, string>> {
  const [modules] = await entriesAt(repository, commit, ['.gitmodules']);
  if (!modules) return new Map();
  const output = await repository.run(['config', '-z', '--blob', modules.sha, '--list']);
  const values = new Map(
    output
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((entry): [string, string] => {
        const gap = entry.indexOf('\n');
        return [entry.slice(0, gap), entry.slice(gap + 1)];
      }),
  );
  return new Map(
    [...values]
      .filter(([key]) => key.startsWith('submodule.') && key.endsWith('.path'))
      .map(([key, path]) => [path, values.get(key.replace(/path$/, 'url')) ?? '']),
  );
}

function parse(output: Buffer): TreeEntry[] {
  return output
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const gap = line.indexOf('\t');
      const [mode = '', type = '', sha = '', size = ''] = line.slice(0, gap).split(/ +/);
      return { mode, type, sha, size: size === '-' ? 0 : Number(size), path: line.slice(gap + 1) };
    });
}
