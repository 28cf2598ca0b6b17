/** What a host refuses, in words that a person can act on. The token is taken out of whatever the host said. */
import { Fault } from '../../fault.ts';
import { createRedactor } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** What the JSON holds; `undefined` where it is none. */
  readonly body: unknown;
  readonly text: string;
}

/** What an account or a token would have to be allowed. */
export interface Refusal {
  readonly scopes: readonly string[];
  readonly hint?: string;
}

const mostShown = 300;

export function evidenceOf({ status, text }: Answer, token: Secret): string {
  const redactor = createRedactor([token]);
  const clean = Buffer.concat([redactor.push(Buffer.from(text)), redactor.end()]).toString();
  return `status ${status}: ${clean.replaceAll(/\s+/g, ' ').slice(0, mostShown)}`;
}

export function rejected(label: string, evidence: string): Fault {
  return new Fault('provider_rejected', `${label} refuses the token: it is wrong, expired or revoked.`, {
    hint: `Make a new token at ${label} and save it here; everything that uses this account goes on with it.`,
    evidence,
  });
}

export function scopesMissing(label: string, { scopes, hint }: Refusal, evidence: string): Fault {
  const named = scopes.length > 0;
  return new Fault(
    'provider_scopes_missing',
    named
      ? `The token lacks the scope ${scopes.join(' or ')} at ${label}.`
      : `${label} does not let this token do that.`,
    {
      hint:
        hint ??
        (named
          ? 'Make a token that has it, and save it here.'
          : 'Check the permissions of the token, and the role of its account in the repository.'),
      evidence,
    },
  );
}

export function notFound(label: string, evidence: string): Fault {
  return new Fault('repository_not_found', `${label} has no such repository, or hides it from this token.`, {
    hint: 'Check the name. A private repository is found only if the account is a member and the token may read it.',
    evidence,
  });
}

export function rateLimited(label: string, waitMs: number): Fault {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Fault('provider_rate_limited', `${label} takes no more requests for this token for now.`, {
    hint: `It takes requests again in ${retryAfterSeconds} s.`,
    retryAfterSeconds,
  });
}

export function failed(label: string, answer: Answer, evidence: string): Fault {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const isTheirs = answer.status >= 500;
  return new Fault(
    'provider_failed',
    isTheirs ? `${label} answers with an error.` : `${label} refuses the request.`,
    {
      hint: isTheirs ? 'Try again later; its status page may say more.' : 'What it says is in the evidence.',
      evidence,
      ...(seconds > 0 && { retryAfterSeconds: Math.ceil(seconds) }),
    },
  );
}

export function misunderstood(label: string, evidence: string): Fault {
  return new Fault('provider_failed', `${label} gives an answer that cannot be understood.`, {
    hint: 'Check that the address is that of the Git host itself, and of the kind that was chosen.',
    evidence,
  });
}

export function unreachable(label: string, evidence: string, cause: unknown): Fault {
  return new Fault('provider_unreachable', `${label} cannot be reached.`, {
    hint: 'Check the address, and try again later.',
    evidence,
    cause,
  });
}
