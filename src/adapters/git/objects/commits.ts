/** Commits as git stores them. Only those count that were fetched on purpose: of these we know that all files are here. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Recent } from '../../../recent.ts';
import { isSha, localRef, notThere, type Ref } from '../refs.ts';
import { contentOf, DamagedMirror, readObjects } from './object-reader.ts';

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly message: string;
  readonly authorName: string;
  readonly authoredAt: Date;
  readonly committedAt: Date;
}

const largestCommit = 1024 * 1024;

/** A deployment asks for the same commit several times, and each answer of git costs a process. */
const known = new Recent<Commit>(100);
const mostKeptMessage = 16 * 1024;

/** Undefined where the mirror does not have it, or not for certain with all its files. */
export async function readCommit(dir: string, ref: Ref, signal?: AbortSignal): Promise<Commit | undefined> {
  const kept = 'sha' in ref && isPinned(dir, ref.sha) ? known.get(keyOf(dir, ref.sha)) : undefined;
  if (kept) return kept;
  for await (const object of readObjects(dir, [`${localRef(ref)}^{commit}`], signal)) {
    if (object?.type !== 'commit') return undefined;
    const commit = parseCommit(object.oid, await contentOf(object, largestCommit));
    if (commit.message.length <= mostKeptMessage) known.set(keyOf(dir, commit.sha), commit);
    return commit;
  }
  return undefined;
}

/** A commit never changes; whether it is still there is told by the file of its ref. */
function keyOf(dir: string, sha: string): string {
  return `${dir} ${sha}`;
}

/** The file is gone once git has packed its refs. */
function isPinned(dir: string, sha: string): boolean {
  return isSha(sha) && existsSync(join(dir, localRef({ sha })));
}

/** Fails where the commit was not fetched. */
export async function checkFetched(dir: string, sha: string, signal?: AbortSignal): Promise<void> {
  if (!isPinned(dir, sha)) await requireCommit(dir, sha, signal);
}

export async function requireCommit(dir: string, sha: string, signal?: AbortSignal): Promise<Commit> {
  const commit = isSha(sha) ? await readCommit(dir, { sha }, signal) : undefined;
  if (!commit) throw notThere({ sha }, 'It was not fetched.');
  return commit;
}

function parseCommit(sha: string, content: Buffer): Commit {
  const text = content.toString('utf8');
  const end = text.indexOf('\n\n');
  const head = end < 0 ? text : text.slice(0, end);
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1];
  if (tree === undefined) throw new DamagedMirror(`the commit ${sha} has no tree`);
  const author = personOf(head, 'author');
  return {
    sha,
    tree,
    message: end < 0 ? '' : text.slice(end + 2),
    authorName: author.name,
    authoredAt: author.at,
    committedAt: personOf(head, 'committer').at,
  };
}

/** Commits of old tools lack parts of it; a date that cannot be shown is the first one. */
function personOf(head: string, role: string): { name: string; at: Date } {
  const line = new RegExp(`^${role} (.*)$`, 'm').exec(head)?.[1] ?? '';
  const [, name = '', seconds = '0'] = /^(.*?) ?<[^>]*>(?: (\d{1,12}))?/.exec(line) ?? [];
  const at = new Date(Number(seconds) * 1000);
  return { name, at: Number.isNaN(at.getTime()) ? new Date(0) : at };
}
