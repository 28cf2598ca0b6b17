/** From the patterns of a workspace file to the folders that are meant, as far as they are there. */
import picomatch from 'picomatch';
import { join, type Repository } from '../repository.ts';

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
  const options = { nonegate: true, noextglob: true };
  const matches = picomatch(
    wanted.filter((each) => !plain.has(each)),
    options,
  );
  const excluded = picomatch(
    clean.filter((each) => each.startsWith('!')).map((each) => each.slice(1)),
    options,
  );
  const found: string[] = [];
  const prefix = root === '' ? '' : `${root}/`;
  for (const path of repository.directories.keys()) {
    if (path === root || !path.startsWith(prefix)) continue;
    const inside = path.slice(prefix.length);
    if ((plain.has(inside) || matches(inside)) && !excluded(inside) && isMember(path)) found.push(path);
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
