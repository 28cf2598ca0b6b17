/** Whether CAA records let our certificate authority issue for a name (RFC 8659, and the parameters of RFC 8657). */
import type { CaaRecord } from '../client/records.ts';

export type CaaVerdict =
  | { readonly kind: 'allowed' }
  /** Allowed to this account alone. */
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'method'; readonly methods: string }
  | {
      readonly kind: 'forbidden';
      readonly why: 'others' | 'nobody' | 'unknown tag';
      readonly others: readonly string[];
    };

const ourMethod = 'http-01';
const knownTags = ['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone'];

export function judgeCaa(
  records: readonly CaaRecord[],
  authority: readonly string[],
  isWildcard: boolean,
): CaaVerdict {
  const unknown = records.find(({ isCritical, tag }) => isCritical && !knownTags.includes(tag));
  if (unknown) return { kind: 'forbidden', why: 'unknown tag', others: [unknown.tag] };
  const wild = isWildcard ? records.filter(({ tag }) => tag === 'issuewild') : [];
  const counting = wild.length > 0 ? wild : records.filter(({ tag }) => tag === 'issue');
  if (counting.length === 0) return { kind: 'allowed' };
  const read = counting.map(({ value }) => readIssue(value));
  const ours = read.filter(({ issuer }) => authority.some((name) => name.toLowerCase() === issuer));
  const verdicts = ours.map(judgeParameters);
  // One that lets us is enough, whatever the others say.
  const order = ['allowed', 'account', 'method'] as const;
  for (const kind of order) {
    const found = verdicts.find((verdict) => verdict.kind === kind);
    if (found) return found;
  }
  const others = [...new Set(read.map(({ issuer }) => issuer))].filter((issuer) => issuer !== '');
  return { kind: 'forbidden', why: others.length > 0 ? 'others' : 'nobody', others };
}

interface Issue {
  readonly issuer: string;
  readonly parameters: ReadonlyMap<string, string>;
}

function readIssue(value: string): Issue {
  const [issuer = '', ...rest] = value.split(';').map((part) => part.trim());
  const pairs = rest.flatMap((part): [string, string][] => {
    const [, tag, text] = /^([a-z0-9]+)\s*=\s*(.*)$/i.exec(part) ?? [];
    return tag === undefined || text === undefined ? [] : [[tag.toLowerCase(), text]];
  });
  return { issuer: issuer.toLowerCase(), parameters: new Map(pairs) };
}

function judgeParameters({ parameters }: Issue): CaaVerdict {
  const methods = parameters.get('validationmethods');
  if (methods !== undefined && !methods.split(',').some((each) => each.trim().toLowerCase() === ourMethod))
    return { kind: 'method', methods };
  const account = parameters.get('accounturi');
  return account === undefined ? { kind: 'allowed' } : { kind: 'account', account };
}
