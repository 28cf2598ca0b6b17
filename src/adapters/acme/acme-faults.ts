/** What goes wrong with an authority, in its own words where it has some, and with what would help. */
import { Fault, type FieldError } from '../../fault.ts';
import { type AcmeProblem, shown } from './problem.ts';

/** Types that have a remedy; for the rest, the authority's words have to do. */
const hints: Readonly<Record<string, string>> = {
  accountDoesNotExist: 'A new account is needed at this authority.',
  badCSR: 'The authority does not take these names together, or not this kind of key.',
  caa: 'A CAA record of the domain forbids this authority. Add one that allows it, or remove the record.',
  connection:
    'Port 80 of the server must be reachable from the internet. Check firewalls, and where the name points.',
  dns: 'The name does not resolve for the authority. Check its A and AAAA records, and that DNSSEC is in order.',
  externalAccountRequired: 'This authority takes only accounts that were made with it before.',
  incorrectResponse:
    'Another server answers for the name. Check its A and AAAA records, and any CDN in front.',
  rejectedIdentifier: 'The authority gives no certificate for this name. Check its spelling.',
  unauthorized: 'Another server answers for the name. Check its A and AAAA records, and any CDN in front.',
  unsupportedIdentifier: 'The authority gives no certificate for a name of this kind.',
  userActionRequired: 'The authority has new terms. Whoever runs this instance has to agree to them there.',
};
const ownWords = 'What the authority says is all that is known.';

const hintFor = (type: string) => hints[type] ?? ownWords;

function evidenceOf(problem: AcmeProblem, seen = ''): string {
  const each = problem.about.map(({ name, detail }) => `${name}: ${detail}`);
  return shown([`${problem.type}: ${problem.message}`, ...each, seen].filter(Boolean).join('; '));
}

const errorsOf = ({ about }: AcmeProblem): readonly FieldError[] =>
  about.map(({ name, detail }) => ({ path: name, message: detail }));

export function refused(label: string, problem: AcmeProblem): Fault {
  return new Fault('acme_refused', `The authority ${label} refused: ${problem.message}`, {
    hint: hintFor(problem.type),
    evidence: evidenceOf(problem),
    ...(problem.about.length > 0 && { errors: errorsOf(problem) }),
    cause: problem,
  });
}

/** A refusal that is ours to see: the authority does not offer what is wanted. */
export function notOffered(label: string, what: string, hint: string): Fault {
  return new Fault('acme_refused', `The authority ${label} does not offer ${what}.`, { hint });
}

export function rateLimited(
  label: string,
  problem: AcmeProblem | undefined,
  retryAfterSeconds: number | undefined,
): Fault {
  const words = problem?.message ?? 'it gives no reason';
  return new Fault('acme_rate_limited', `The authority ${label} takes no more requests for now: ${words}`, {
    hint: retryAfterSeconds
      ? `It takes requests again in ${retryAfterSeconds} s; it is asked again by itself.`
      : 'It is asked again by itself, later and later.',
    evidence: problem ? evidenceOf(problem) : 'status 429',
    ...(retryAfterSeconds && { retryAfterSeconds }),
    ...(problem && { cause: problem }),
  });
}

export function unreachable(
  label: string,
  evidence: string,
  more: { readonly cause?: unknown; readonly retryAfterSeconds?: number | undefined } = {},
): Fault {
  const { cause, retryAfterSeconds } = more;
  return new Fault('acme_unreachable', `The authority ${label} cannot be reached, or is out of order.`, {
    hint: 'It is asked again by itself; its status page may say more.',
    evidence: shown(evidence),
    ...(retryAfterSeconds && { retryAfterSeconds }),
    ...(cause !== undefined && { cause }),
  });
}

/** The authority works on it, and has not come to an end in the time there is. */
export function unfinished(
  label: string,
  what: string,
  status: string,
  retryAfterSeconds: number | undefined,
): Fault {
  return new Fault('acme_unreachable', `The authority ${label} has not finished ${what} in time.`, {
    hint: 'It is asked again by itself.',
    evidence: `the state is still «${shown(status)}»`,
    ...(retryAfterSeconds && { retryAfterSeconds }),
  });
}

export function nonsense(label: string, evidence: string): Fault {
  return new Fault('acme_nonsense', `The authority ${label} gives an answer that cannot be understood.`, {
    hint: 'Check that the address in the settings is that of an ACME directory.',
    evidence: shown(evidence),
  });
}

export interface FailedName {
  readonly name: string;
  readonly problem: AcmeProblem;
  /** Where the authority looked, and what it met there. */
  readonly seen: string;
}

export function challengeFailed(label: string, failed: readonly [FailedName, ...FailedName[]]): Fault {
  const [first] = failed;
  const rest = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return new Fault(
    'challenge_failed',
    `The authority ${label} could not see that ${first.name}${rest} is served from here: ${first.problem.message}`,
    {
      hint: hintFor(first.problem.type),
      evidence: failed.map(({ problem, seen }) => evidenceOf(problem, seen)).join('\n'),
      errors: failed.map(({ name, problem }) => ({ path: name, message: problem.message })),
      cause: first.problem,
    },
  );
}
