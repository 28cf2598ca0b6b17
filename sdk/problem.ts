/** What a call can throw: the service refuses (`ProblemError`), or nobody who is the service answers (`ConnectionError`). */
import type { FaultCode, Problem } from './generated/schemas.ts';

export class ProblemError extends Error {
  readonly problem: Problem;
  /** Seconds after which it is worth trying again. */
  readonly retryAfter: number | undefined;

  constructor(problem: Problem, retryAfter?: number) {
    super(problem.detail);
    this.name = 'ProblemError';
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  get code(): FaultCode {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }

  get hint(): string | undefined {
    return this.problem.hint;
  }

  get requestId(): string {
    return this.problem.requestId;
  }
}

export class ConnectionError extends Error {
  /** Where something answered, but not as the service does: a proxy before it, or another program. */
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(message: string, options: { cause?: unknown; status?: number; retryAfter?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ConnectionError';
    this.status = options.status;
    this.retryAfter = options.retryAfter;
  }
}

/** Of an answer that is no success. */
export async function failureOf(answer: Response): Promise<ProblemError | ConnectionError> {
  const seconds = Number(answer.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = seconds >= 0 ? seconds : undefined;
  const text = await textOf(answer);
  return isOfType(answer, 'application/problem+json')
    ? new ProblemError(JSON.parse(text), retryAfter)
    : foreign(answer, text, retryAfter);
}

export async function jsonOf(answer: Response): Promise<unknown> {
  const text = await textOf(answer);
  if (text === '') return undefined;
  if (isOfType(answer, 'application/json')) return JSON.parse(text);
  throw foreign(answer, text);
}

export function isOfType(answer: Response, type: string): boolean {
  return answer.headers.get('content-type')?.startsWith(type) ?? false;
}

export function foreign({ status }: Response, text: string, retryAfter?: number): ConnectionError {
  const message = `The address answers with ${status}, but not as Slipway does: ${text.slice(0, 200)}`;
  return new ConnectionError(message.trim(), { status, ...(retryAfter !== undefined && { retryAfter }) });
}

async function textOf(answer: Response): Promise<string> {
  try {
    return await answer.text();
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new ConnectionError('The answer broke off.', { cause });
  }
}
