/** A service that answers as it is told, and keeps what it was asked. */
import type { FaultCode, Problem, TokenStore, Tokens } from '../../sdk/index.ts';

export type Answer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  /** The connection breaks before there is one. */
  | 'reset';

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** The names of the fields of a form, in their order. */
  readonly form: readonly string[] | undefined;
  readonly signal: AbortSignal | undefined;
}

export function recorded(answer: (request: Recorded) => Answer) {
  const requests: Recorded[] = [];
  const answering: typeof fetch = async (address, init = {}) => {
    const request = {
      method: init.method ?? 'GET',
      url: String(address),
      // Those of a request are changed when it is sent again.
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? init.body : undefined,
      form: init.body instanceof FormData ? [...init.body.keys()] : undefined,
      signal: init.signal ?? undefined,
    };
    requests.push(request);
    const given = answer(request);
    if (given === 'reset') throw new TypeError('fetch failed');
    const { status = 200, headers, body } = given;
    const isText = typeof body === 'string' || body instanceof ReadableStream;
    return new Response(body === undefined ? null : isText ? body : JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });
  };
  return { fetch: answering, requests };
}

export function problem(status: number, code: FaultCode, more: Partial<Problem> = {}) {
  return {
    status,
    headers: { 'content-type': 'application/problem+json' },
    body: { title: 'No', status, detail: 'The test said no.', code, requestId: 'req-1', ...more },
  };
}

export function memoryStore(
  tokens: Tokens | undefined,
): TokenStore & { readonly written: (Tokens | undefined)[] } {
  const written: (Tokens | undefined)[] = [];
  return {
    written,
    read: async () => (written.length > 0 ? written.at(-1) : tokens),
    write: async (next) => void written.push(next),
    alone: (work) => work(),
  };
}
