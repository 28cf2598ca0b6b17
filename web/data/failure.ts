/** What went wrong, as a page shows it: a sentence, what would help, and what shows it. */
import { ConnectionError, type Fault, type FaultCode, ProblemError } from '../../sdk/index.ts';
import { inPages } from './page-words.ts';

export interface Failure {
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
  /** By the name of the field. */
  readonly fields: Readonly<Record<string, string>>;
  readonly code: FaultCode | null;
  readonly requestId: string | null;
  /** It may be over in a moment, so trying again makes sense. */
  readonly isPassing: boolean;
}

/** Something that went wrong in the browser itself, in words for a person. */
export class Refusal extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

/** Where a person goes to mend it. */
export const ways: Partial<Readonly<Record<FaultCode, { readonly text: string; readonly path: string }>>> = {
  second_factor_missing: { text: 'Set up a second factor', path: '/profile' },
  no_second_factor: { text: 'Set up a second factor', path: '/profile' },
};

export function failureOf(error: unknown): Failure {
  if (error instanceof ProblemError) {
    const { detail, hint, errors = [], findings = [], code, requestId } = error.problem;
    const fields = Object.fromEntries(
      errors.map(({ path, message }) => [path.replaceAll('/', '.'), message]),
    );
    const evidence = findings.map((finding) => finding.message).join('\n');
    const isPassing = error.status >= 500 || error.status === 429;
    return {
      message: detail,
      hint: hint ? inPages(hint) : null,
      evidence: evidence || null,
      fields,
      code,
      requestId,
      isPassing,
    };
  }
  if (error instanceof ConnectionError)
    return said(
      'The service cannot be reached.',
      'Check the network; what you typed stays here.',
      error.message,
      true,
    );
  if (error instanceof Refusal) return said(error.message, error.hint, null);
  // A defect of the page itself: its text is all that anyone can go by.
  return said('The dashboard made a mistake.', 'Reload the page.', String(error));
}

export function failureOfFault({ message, hint, evidence, code }: Fault): Failure {
  const helps = hint && inPages(hint);
  return { message, hint: helps, evidence, fields: {}, code, requestId: null, isPassing: false };
}

function said(message: string, hint: string, evidence: string | null, isPassing = false): Failure {
  return { message, hint, evidence, fields: {}, code: null, requestId: null, isPassing };
}
