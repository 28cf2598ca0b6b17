/** Commits as values: reading them, listing them, and which files each of them touched. */
import type { BareRepository } from './git.ts';
import { readObjects } from './objects.ts';

export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
  /** As git writes it: `+0200`. */
  readonly zone: string;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
  readonly signature: string | null;
}

export interface TouchedFiles {
  readonly added: string[];
  readonly removed: string[];
  readonly modified: string[];
}

export async function readCommits(repository: BareRepository, shas: readonly string[]): Promise<Commit[]> {
  const objects = await readObjects(repository, shas);
  return objects.map((object, index) => {
    if (object?.type !== 'commit') throw new Error(`There is no commit ${shas[index]} in ${repository.dir}.`);
    return parseCommit(object.sha, object.content);
  });
}

export async function readCommit(repository: BareRepository, sha: string): Promise<Commit> {
  const [commit] = await readCommits(repository, [sha]);
  if (!commit) throw new Error(`There is no commit ${sha} in ${repository.dir}.`);
  return commit;
}

export async function listCommits(
  repository: BareRepository,
  tip: string,
  path: string,
  range: { skip: number; count: number },
): Promise<{ commits: Commit[]; total: number }> {
  const files = path === '' ? [] : [path];
  const total = await repository.run(['rev-list', '--count', tip, '--', ...files]);
  const limits = [`--skip=${range.skip}`, `--max-count=${range.count}`];
  const shas = await repository.run(['rev-list', ...limits, tip, '--', ...files]);
  return { commits: await readCommits(repository, lines(shas)), total: Number(total.toString()) };
}

/** Oldest first. The known ones go in by stdin: a repository may have thousands of refs. */
export async function commitsSince(
  repository: BareRepository,
  tip: string,
  known: Iterable<string>,
  most: number,
): Promise<string[]> {
  const input = [tip, ...Array.from(known, (sha) => `^${sha}`)].map((line) => `${line}\n`).join('');
  const options = ['--topo-order', `--max-count=${most}`, '--stdin'];
  return lines(await repository.run(['rev-list', ...options], input)).reverse();
}

export async function isAncestor(repository: BareRepository, older: string, newer: string): Promise<boolean> {
  const missing = await commitsSince(repository, older, [newer], 1);
  return missing.length === 0;
}

/** Against the first parent, as GitHub counts for a merge. */
export async function touchedFiles(
  repository: BareRepository,
  shas: readonly string[],
): Promise<Map<string, TouchedFiles>> {
  const touched = new Map<string, TouchedFiles>(
    shas.map((sha) => [sha, { added: [], removed: [], modified: [] }]),
  );
  if (shas.length === 0) return touched;
  const options = ['-r', '--root', '-z', '--name-status', '--no-renames', '--diff-merges=first-parent'];
  const input = shas.map((sha) => `${sha}\n`).join('');
  const tokens = (await repository.run(['diff-tree', '--stdin', ...options], input)).toString().split('\0');
  let current: TouchedFiles | undefined;
  for (let at = 0; at < tokens.length - 1; at++) {
    const token = tokens[at] ?? '';
    if (token.length === 40) {
      current = touched.get(token);
      continue;
    }
    at += 1;
    const list = token === 'A' ? current?.added : token === 'D' ? current?.removed : current?.modified;
    list?.push(tokens[at] ?? '');
  }
  return touched;
}

export function parseCommit(sha: string, content: Buffer): Commit {
  const text = content.toString();
  const gap = text.indexOf('\n\n');
  // A line that begins with a space goes on with the one before it; signatures are written so.
  const heads = text
    .slice(0, gap)
    .replaceAll('\n ', '\0')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
  const first = (key: string) => heads.find(([name]) => name === key)?.[1];
  return {
    sha,
    tree: first('tree') ?? '',
    parents: heads.filter(([name]) => name === 'parent').map(([, value]) => value),
    author: parseSignature(first('author') ?? ''),
    committer: parseSignature(first('committer') ?? ''),
    message: text.slice(gap + 2).replace(/\n+$/, ''),
    signature: first('gpgsig')?.replaceAll('\0', '\n') ?? null,
  };
}

function parseSignature(text: string): Signature {
  const [, name = '', email = '', seconds = '0', zone = '+0000'] =
    /^(.*?) ?<([^>]*)> (-?\d+) ([+-]\d{4})$/.exec(text) ?? [];
  return { name, email, seconds: Number(seconds), zone };
}

/** `2019-05-15T13:20:30Z`, as the REST API says it. */
export function inUtc({ seconds }: Signature): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** `2019-05-15T15:20:30+02:00`, as webhooks say it. */
export function inItsZone({ seconds, zone }: Signature): string {
  const sign = zone.startsWith('-') ? -1 : 1;
  const offset = sign * (Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(3)) * 60);
  const local = new Date((seconds + offset) * 1000).toISOString().slice(0, 19);
  return `${local}${zone.slice(0, 3)}:${zone.slice(3)}`;
}

function lines(output: Buffer): string[] {
  return output.toString().split('\n').filter(Boolean);
}
