/** A commit as git stores it. */
import { DamagedMirror } from './object-reader.ts';

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly authoredAt: Date;
  readonly committedAt: Date;
}

export function parseCommit(sha: string, content: Buffer): Commit {
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
    authorEmail: author.email,
    authoredAt: author.at,
    committedAt: personOf(head, 'committer').at,
  };
}

/** Commits of old tools lack parts of it; a date that cannot be shown is the first one. */
function personOf(head: string, role: string): { name: string; email: string; at: Date } {
  const line = new RegExp(`^${role} (.*)$`, 'm').exec(head)?.[1] ?? '';
  const [, name = '', email = '', seconds = '0'] = /^(.*?) ?<([^>]*)>(?: (\d{1,12}))?/.exec(line) ?? [];
  const at = new Date(Number(seconds) * 1000);
  return { name, email, at: Number.isNaN(at.getTime()) ? new Date(0) : at };
}
