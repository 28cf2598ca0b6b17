/** What git said, as a fault that a person can act on. Only git's own lines count: `remote:` is text of the other side. */
import { stripVTControlCharacters } from 'node:util';
import { Fault, type FaultCode } from '../../../fault.ts';
import { redactWhole } from '../../../remote/exec/redact.ts';
import type { Secret } from '../../../secret.ts';
import type { GitUrl } from '../git-url.ts';
import type { GitFailure } from '../run-git.ts';

export interface Explained {
  readonly fault: Fault;
  /** Not explained by the other side: what we have may be damaged. */
  readonly mayBeOurs: boolean;
  /** The host gives only what a branch or tag points at; the commit may still be in their history. */
  readonly isHidden: boolean;
}

interface Reason {
  readonly pattern: RegExp;
  readonly code: FaultCode;
  readonly sentence: string;
  readonly hint?: string;
}

/** What git says where it may take no more memory: the limit that every process of it has. */
const memory = /out of memory|cannot allocate memory/i;

/** Of our own disk, whatever else is said. */
const ours =
  /corrupt|does not match index|bad object|missing (blob|tree|commit|object)|unable to read|cannot be accessed|unresolved delta|bad config|loose object|did not send all necessary|not a git repository: '\//i;

/** The first that fits counts. `$host` and `$url` are put in. */
const reasons: readonly Reason[] = [
  {
    pattern: /could not read (Username|Password)|helper quit|credential helper .* told us to quit/i,
    code: 'repository_not_found',
    sentence: 'There is no public repository at $url.',
    hint: 'Check the address. A private repository needs a token or a deploy key.',
  },
  {
    pattern: /Authentication failed|returned error: (401|403)\b|Permission denied|Access denied/i,
    code: 'provider_rejected',
    sentence: '$host refuses the credentials for the repository.',
    hint: 'The token may be wrong, expired, or without access to this repository.',
  },
  {
    pattern: /couldn't find remote ref|not our ref|unadvertised object|no such remote ref/i,
    code: 'commit_not_found',
    sentence: 'The repository has no such branch, tag or commit.',
    hint: 'It may have been deleted or overwritten since.',
  },
  {
    pattern:
      /repository .* not found|Repository not found|does not appear to be a git repository|error: 404\b/i,
    code: 'repository_not_found',
    sentence: '$host has no repository at this address, or does not show it to us.',
    hint: 'Check the address, and that the token or key may read the repository.',
  },
  {
    pattern: /Could ?n[o']t resolve host/i,
    code: 'name_not_resolved',
    sentence: 'The name $host does not resolve to an address.',
  },
  {
    pattern: /returned error: 3\d\d|redirect/i,
    code: 'git_failed',
    sentence: '$host sends us on to another address, which is not followed.',
    hint: 'The repository may have been moved or renamed: use its new address.',
  },
  {
    pattern: /returned error: (429|5\d\d)/i,
    code: 'provider_failed',
    sentence: '$host cannot serve the repository at the moment.',
    hint: 'Try again later.',
  },
  {
    pattern: /SSL|certificate|TLS|schannel|gnutls/i,
    code: 'egress_failed',
    sentence: '$host does not show a certificate that we trust.',
    hint: 'Check that its certificate is valid for this name and not expired.',
  },
  {
    pattern: /too slow|transferred in the last \d+ seconds|timed out|Timeout was reached/i,
    code: 'provider_unreachable',
    sentence: '$host answers too slowly, or not at all.',
  },
  {
    pattern: /Connection refused|Failed to connect|Couldn't connect|No route to host|unreachable/i,
    code: 'provider_unreachable',
    sentence: '$host refuses the connection.',
    hint: 'Check the address and the port.',
  },
  {
    pattern:
      /early EOF|hung up unexpectedly|Empty reply|Recv failure|RPC failed|transfer closed|unexpected disconnect|reset by peer/i,
    code: 'provider_unreachable',
    sentence: '$host broke off the transfer.',
    hint: 'Try again.',
  },
  {
    pattern: /not valid: is this a git repository|dumb http|invalid server response|bad line length|got: '/i,
    code: 'git_failed',
    sentence: 'What answers at $url is not a Git repository.',
    hint: 'Check the address: it must be the one for cloning, not that of a page.',
  },
  {
    pattern: /mismatched algorithms|object-format|unknown object format/i,
    code: 'git_failed',
    sentence: 'The repository names its objects with SHA-256, which is not supported.',
  },
];

export function explainGit(
  failure: GitFailure,
  { url, more = '', secrets = [] }: { url: GitUrl; more?: string; secrets?: readonly Secret[] },
): Explained {
  const lines = `${more}\n${failure.said}`
    .split(/[\r\n]+/)
    .map((line) => stripVTControlCharacters(line).trim());
  const own = lines.filter((line) => line !== '' && !/^remote: (?!error: )/i.test(line));
  const told = own.join('\n');
  const found = ours.test(told) ? undefined : reasons.find(({ pattern }) => pattern.test(told));
  const evidence = shown(lines, secrets);
  const fill = (text: string) => text.replace('$host', url.host).replace('$url', url.text);
  if (memory.test(told)) {
    const fault = new Fault('repository_too_large', `The repository ${url.text} needs too much memory.`, {
      hint: 'A file of it is larger than git can put together here. Keep large files in Git LFS.',
      evidence,
    });
    return { fault, mayBeOurs: false, isHidden: false };
  }
  if (!found) {
    const fault = new Fault('git_failed', `The repository ${url.text} could not be fetched.`, { evidence });
    return { fault, mayBeOurs: true, isHidden: false };
  }
  const { code, sentence, hint } = found;
  const fault = new Fault(code, fill(sentence), { evidence, ...(hint === undefined ? {} : { hint }) });
  return { fault, mayBeOurs: false, isHidden: /unadvertised object/i.test(told) };
}

/** The last lines, without the counting of progress. */
function shown(lines: readonly string[], secrets: readonly Secret[]): string {
  const kept = lines.filter((line) => line !== '' && !/^(remote: )?[A-Z][a-z]+ [a-z ]+:\s+\d+/.test(line));
  const text = redactWhole(Buffer.from(kept.slice(-8).join('\n')), secrets).toString();
  return text.replaceAll(/[^\P{C}\n]/gu, '').slice(-1_000);
}
