/** What went wrong, as a page shows it: a sentence, what would help, and what shows it. */
import { ConnectionError, type Fault, type FaultCode, ProblemError } from '../../sdk/index.ts';

export interface Failure {
  readonly message: string;
  readonly hint: string | null;
  readonly evidence: string | null;
  /** By the name of the field. */
  readonly fields: Readonly<Record<string, string>>;
  readonly code: FaultCode | null;
  readonly requestId: string | null;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ProblemError) {
    const { detail, hint, errors = [], findings = [], code, requestId } = error.problem;
    const fields = Object.fromEntries(
      errors.map(({ path, message }) => [path.replaceAll('/', '.'), message]),
    );
    const evidence = findings.map((finding) => finding.message).join('\n');
    return { message: detail, hint: hint ?? null, evidence: evidence || null, fields, code, requestId };
  }
  if (error instanceof ConnectionError)
    return said(
      'The service cannot be reached.',
      'Check the network; what you typed stays here.',
      error.message,
    );
  // A defect of the page itself: its text is all that anyone can go by.
  return said('The dashboard made a mistake.', 'Reload the page.', String(error));
}

export function failureOfFault({ message, hint, evidence, code }: Fault): Failure {
  return { message, hint, evidence, fields: {}, code, requestId: null };
}

function said(message: string, hint: string, evidence: string): Failure {
  return { message, hint, evidence, fields: {}, code: null, requestId: null };
}
