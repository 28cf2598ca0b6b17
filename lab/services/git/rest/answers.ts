/** What an operation can answer, and the ways in which GitHub says no. */

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written as JSON; nothing at all where it is `undefined`. */
  readonly json?: unknown;
  /** Instead of JSON. */
  readonly bytes?: Buffer;
}

export const documentation = 'https://docs.github.com/rest';

export class ApiError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, message: string, more: object = {}, headers: Record<string, string> = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.body = { message, ...more, documentation_url: documentation, status: String(status) };
    this.headers = headers;
  }
}

export function ok(json: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 200, json, headers };
}

export function created(json: unknown, location: string): Answer {
  return { status: 201, json, headers: { Location: location } };
}

export const noContent: Answer = { status: 204 };

export const notFound = () => new ApiError(404, 'Not Found');
export const requiresAuthentication = () => new ApiError(401, 'Requires authentication');
export const emptyRepository = () => new ApiError(409, 'Git Repository is empty.');

export interface FieldProblem {
  readonly resource: string;
  readonly field?: string;
  readonly code: string;
  readonly message?: string;
}

export function validationFailed(...errors: FieldProblem[]): ApiError {
  return new ApiError(422, 'Validation Failed', { errors });
}

export function noSuchCommit(name: string): ApiError {
  return new ApiError(422, `No commit found for SHA: ${name}`);
}
