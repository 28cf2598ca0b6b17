/** From the patterns of a workspace file to the folders that are meant, as far as they are there. */
import { Globs } from '../../glob.ts';
import type { WorkspaceFinder } from '../detector.ts';
import { asList } from '../readers/shape.ts';
import { isParsed, join, nameOf, parentOf, type Repository } from '../repository.ts';

const longest = 200;
const mostPatterns = 200;

/** `isMember` tells whether a folder holds a project at all. Patterns are relative to the root; `!` takes away. */
export function expandMembers(
  repository: Repository,
  root: string,
  patterns: readonly unknown[],
  isMember: (directory: string) => boolean,
): readonly string[] {
  const clean = patterns
    .filter((each): each is string => typeof each === 'string' && each.length <= longest)
    .slice(0, mostPatterns)
    .map((each) => each.replace(/^(!?)\.\//, '$1').replace(/\/+$/, ''));
  const wanted = clean.filter((each) => !each.startsWith('!'));
  const plain = new Set(wanted.filter((each) => !/[*?[{(]/.test(each)));
  const patterned = new Globs(
    wanted.filter((each) => !plain.has(each)),
    { dot: false },
  );
  const excluded = new Globs(
    clean.filter((each) => each.startsWith('!')).map((each) => each.slice(1)),
    { dot: false },
  );
  const found: string[] = [];
  const prefix = root === '' ? '' : `${root}/`;
  for (const path of repository.directories.keys()) {
    if (path === root || !path.startsWith(prefix)) continue;
    const inside = path.slice(prefix.length);
    if ((plain.has(inside) || patterned.matches(inside)) && !excluded.matches(inside) && isMember(path))
      found.push(path);
  }
  if (plain.has('.') || plain.has('')) if (isMember(root)) found.push(root);
  return found.sort();
}

/** Folders named outright, `..` and all. */
export function namedMember(root: string, name: string): string | undefined {
  const parts: string[] = [];
  for (const part of join(root, name.replaceAll('\\', '/')).split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** A workspace that a manifest declares: in each file of one of these names or endings, the members as `read` finds them. */
export function workspaceFinder(
  kind: string,
  manifests: readonly string[],
  note: string,
  read: (repository: Repository, file: string, root: string) => readonly string[],
): WorkspaceFinder {
  return {
    name: kind,
    find(repository) {
      const isManifest = (file: string) =>
        manifests.some((name) => name === nameOf(file) || name.startsWith('.'));
      const files = [...repository.filesUnder('', manifests)].filter(isManifest);
      return files.flatMap((file) => {
        const root = parentOf(file) ?? '';
        const members = read(repository, file, root);
        return members.length === 0 ? [] : [{ kind, tool: null, root, members, source: { file, note } }];
      });
    },
  };
}

/** `members` and `exclude`, as Cargo and uv write them. */
export function listedMembers(
  repository: Repository,
  root: string,
  workspace: unknown,
  manifest: string,
): readonly string[] {
  if (!isParsed(workspace)) return [];
  const excluded = asList(workspace.exclude).map((each) => `!${String(each)}`);
  return expandMembers(repository, root, [...asList(workspace.members), ...excluded], (directory) =>
    repository.has(join(directory, manifest)),
  );
}
