/** Names for commits: the refs of a repository, and what a name in a request means. */
import type { BareRepository } from './git.ts';
import { describeObjects } from './objects.ts';

export const noCommit = '0'.repeat(40);

/** One process however many there are; sorted by name. */
export async function readRefs(repository: BareRepository, under = 'refs'): Promise<Map<string, string>> {
  const output = await repository.run(['for-each-ref', '--format=%(objectname) %(refname)', under]);
  const lines = output.toString().split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** A tag may stand for an object that names the commit; what counts is the commit. */
export async function readTags(repository: BareRepository): Promise<{ name: string; sha: string }[]> {
  const format = '--format=%(objectname) %(*objectname) %(refname:strip=2)';
  const output = await repository.run(['for-each-ref', '--sort=-version:refname', format, 'refs/tags']);
  const lines = output.toString().split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    const [own, target, ...name] = line.split(' ');
    const sha = target || own;
    return sha ? [{ name: name.join(' '), sha }] : [];
  });
}

/** A branch, a tag, a whole or shortened commit id, or a full ref; nothing that walks, as `main~2` would. */
export async function resolveCommit(repository: BareRepository, name: string): Promise<string | undefined> {
  if (!isPlainName(name)) return undefined;
  const places = [`refs/heads/${name}`, `refs/tags/${name}`];
  if (/^(refs|heads|tags)\//.test(name)) places.unshift(name.startsWith('refs/') ? name : `refs/${name}`);
  if (/^[0-9a-f]{40}$/i.test(name)) places.unshift(name);
  else if (/^[0-9a-f]{4,39}$/i.test(name)) places.push(name);
  if (name === 'HEAD') places.unshift(name);
  const found = await describeObjects(
    repository,
    places.map((place) => `${place}^{commit}`),
  );
  return found.find(Boolean)?.sha;
}

export function isPlainName(name: string): boolean {
  return (
    name !== '' && name !== '@' && !/[\s~^:?*[\\\p{Cc}]|\.\.|@\{|\/\/|^[-/]|[/.]$|\.lock(\/|$)/u.test(name)
  );
}
