/** Branches, tags and commits of a repository, and the refs under which the mirror has them. */
import { createHash } from 'node:crypto';
import { Fault } from '../../fault.ts';

export type Ref = { readonly branch: string } | { readonly tag: string } | { readonly sha: string };

/** `default` is the branch that the host names as such. */
export type Want = Ref | 'default';

/**
 * Names of branches are other people's text, may be up to any length, and `a` forbids `a/b` beside it. The mirror keeps
 * each under a hash of its name, so one that was deleted over there is never in the way of another.
 */
export function localRef(ref: Ref): string {
  if ('sha' in ref) return `refs/mirror/commits/${ref.sha}`;
  const [kind, name] = 'branch' in ref ? (['heads', ref.branch] as const) : (['tags', ref.tag] as const);
  return `refs/mirror/${kind}/${createHash('sha256').update(name).digest('hex')}`;
}

export function refspec(ref: Ref): string {
  if ('sha' in ref) return `${ref.sha}:${localRef(ref)}`;
  return `+${'branch' in ref ? `refs/heads/${ref.branch}` : `refs/tags/${ref.tag}`}:${localRef(ref)}`;
}

/** What git allows: the rules of `git check-ref-format`. */
export function isRefName(name: string): boolean {
  if (name === '' || name.length > 1_000 || !name.isWellFormed()) return false;
  if (/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//.test(name)) return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

export function isSha(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

export function isPossibleRef(ref: Ref): boolean {
  return 'sha' in ref ? isSha(ref.sha) : isRefName('branch' in ref ? ref.branch : ref.tag);
}

export function notThere(ref: Ref, evidence?: string): Fault {
  const what =
    'sha' in ref ? `commit ${ref.sha}` : 'branch' in ref ? `branch ${ref.branch}` : `tag ${ref.tag}`;
  return new Fault('commit_not_found', `The repository has no ${what.slice(0, 200)}.`, {
    hint: 'It may have been deleted or overwritten since.',
    ...(evidence === undefined ? {} : { evidence }),
  });
}
