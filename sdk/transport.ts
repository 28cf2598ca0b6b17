/**
 * One request and its answer: who calls, in which workspace, with which key, and whether it is tried again. It is, where
 * that cannot do a thing twice: a look, or work with an Idempotency-Key. Tokens go into headers, never into the address.
 */
import type { CallOptions, Input, Operation } from './call.ts';
import type { RefreshRequest, SignIn } from './generated/schemas.ts';
import { ConnectionError, failureOf, ProblemError } from './problem.ts';
import type { ClientSession } from './session.ts';

export interface ClientOptions {
  /** Where Slipway is, as `https://slipway.example.com`; nothing in a page that it serves. */
  readonly url?: string | undefined;
  /** An API token (`slw_…`), or a session. */
  readonly auth?: string | ClientSession | undefined;
  /** The workspace of all calls that do not say another. */
  readonly workspace?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long an answer may take; streams, uploads and downloads may take any time. */
  readonly timeoutMs?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** How waiting is done; tests pass one that does not wait. */
  readonly wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

const mostRetries = 4;
/** Whoever asks for a longer wait is not waited for: the caller decides. */
const longestWaitMs = 60_000;
const usualTimeoutMs = 120_000;

export class Transport {
  readonly #options: ClientOptions;
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#base = (options.url ?? '').replace(/\/+$/, '');
    // Called as a method, a browser's own refuses.
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.wait = options.wait ?? wait;
  }

  /** An answer that is a success. */
  async send(
    operation: Operation,
    input: Input,
    options: CallOptions,
    lastEventId?: string,
  ): Promise<Response> {
    const { marks, method } = operation;
    const key = marks.includes('k') ? (options.idempotencyKey ?? newKey()) : undefined;
    const isRepeatable = (method === 'GET' || key !== undefined) && !(input.body instanceof ReadableStream);
    const { workspace = this.#options.workspace } = options;
    const headers = new Headers(this.#options.headers);
    if (workspace !== undefined && marks.includes('w')) headers.set('slipway-workspace', workspace);
    if (key !== undefined) headers.set('idempotency-key', key);
    if (lastEventId !== undefined) headers.set('last-event-id', lastEventId);
    const body = bodyOf(operation, input.body, headers);
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    const request = {
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(body instanceof ReadableStream && { duplex: 'half' as const }),
    };
    const url = `${this.#base}${pathOf(operation, input)}`;
    for (let tried = 0; ; tried += 1) {
      try {
        const answer = await this.#asSomeone(operation, url, request, options.signal);
        options.onAnswer?.(answer);
        return answer;
      } catch (error) {
        const waitMs = isRepeatable && tried < mostRetries ? waitBeforeRetryMs(error, tried) : undefined;
        if (waitMs === undefined) throw error;
        await this.wait(waitMs, options.signal);
      }
    }
  }

  async #asSomeone(
    { marks, bytesType }: Operation,
    url: string,
    request: RequestInit & { headers: Headers },
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const { auth } = this.#options;
    const refresh = (body: RefreshRequest) => this.#refresh(body);
    const isLong = /[belf]/.test(marks) || bytesType !== undefined;
    if (auth === undefined || !marks.includes('a')) return this.#once(url, request, signal, isLong);
    const token = await this.bearer();
    if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
    try {
      return await this.#once(url, request, signal, isLong);
    } catch (error) {
      if (typeof auth === 'string' || token === undefined || request.body instanceof ReadableStream)
        throw error;
      if (!(error instanceof ProblemError) || error.code !== 'unauthenticated') throw error;
      // It was refused before anything was done, so any call can be repeated.
      const fresh = await auth.accessToken(refresh, token);
      if (fresh === undefined) throw error;
      request.headers.set('authorization', `Bearer ${fresh}`);
      return this.#once(url, request, signal, isLong);
    }
  }

  /** What proves who calls, fresh enough to be used now; nothing, where nobody is signed in. */
  async bearer(): Promise<string | undefined> {
    const { auth } = this.#options;
    return typeof auth === 'object' ? auth.accessToken((body) => this.#refresh(body)) : auth;
  }

  /** Not among the calls that are tried again: what became of a refresh token that was sent twice is not known. */
  async #refresh(body: RefreshRequest): Promise<SignIn> {
    const headers = new Headers({ ...this.#options.headers, 'content-type': 'application/json' });
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await this.#once(`${this.#base}/api/v1/auth/refresh`, request, undefined, false);
    return JSON.parse(await answer.text());
  }

  async #once(
    url: string,
    request: RequestInit,
    signal: AbortSignal | undefined,
    isLong: boolean,
  ): Promise<Response> {
    const timeoutMs = this.#options.timeoutMs ?? usualTimeoutMs;
    const signals = [...(signal ? [signal] : []), ...(isLong ? [] : [AbortSignal.timeout(timeoutMs)])];
    let answer: Response;
    try {
      answer = await this.#fetch(url, { ...request, signal: AbortSignal.any(signals) });
    } catch (cause) {
      signal?.throwIfAborted();
      throw new ConnectionError(`${this.#base || 'Slipway'} cannot be reached.`, { cause });
    }
    if (!answer.ok) throw await failureOf(answer);
    return answer;
  }
}

/** Not `randomUUID`: a page over plain http has none. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36)).join('');
}

function pathOf({ path }: Operation, input: Input): string {
  const rest = new Map(Object.entries(input));
  const query = new URLSearchParams();
  rest.delete('body');
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    // An empty one would lead to another operation.
    if (value === undefined || value === '') throw new TypeError(`${name} is missing`);
    return encodeURIComponent(String(value));
  });
  for (const [name, value] of rest) if (value !== undefined) query.set(name, String(value));
  const below = filled.startsWith('/') ? filled : `/api/v1/${filled}`;
  return query.size === 0 ? below : `${below}?${query}`;
}

function bodyOf({ marks, bytesType }: Operation, body: unknown, headers: Headers): RequestInit['body'] {
  if (body instanceof Blob || body instanceof Uint8Array || body instanceof ReadableStream) {
    if (bytesType !== undefined) headers.set('content-type', bytesType);
    return body instanceof Uint8Array ? body.slice() : body;
  }
  if (marks.includes('f')) return formOf(Object(body));
  if (!marks.includes('j')) return undefined;
  headers.set('content-type', 'application/json');
  return JSON.stringify(body ?? {});
}

/** Files go last: what is read before them says what they are. */
function formOf(fields: Record<string, unknown>): FormData {
  const form = new FormData();
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) if (!(value instanceof Blob)) form.set(name, String(value));
  for (const [name, value] of given) if (value instanceof Blob) form.set(name, value);
  return form;
}

/** Nothing, where trying again is not worth it. */
export function waitBeforeRetryMs(error: unknown, tried: number): number | undefined {
  if (!isPassing(error)) return undefined;
  const asked = error.retryAfter === undefined ? undefined : error.retryAfter * 1_000;
  if (asked !== undefined) return asked <= longestWaitMs ? asked : undefined;
  // Half of it by chance: those who lost the same service do not come back in one instant.
  return Math.min(30_000, 500 * 2 ** tried) * (0.5 + Math.random() / 2);
}

function isPassing(error: unknown): error is ProblemError | ConnectionError {
  if (error instanceof ConnectionError)
    return error.status === undefined || [429, 502, 503, 504].includes(error.status);
  if (!(error instanceof ProblemError)) return false;
  return [429, 503].includes(error.status) || error.code === 'idempotency_in_progress';
}

function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abandon = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abandon);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abandon, { once: true });
  });
}
