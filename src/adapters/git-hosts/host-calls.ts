/**
 * Every request to a host goes through here, also those of its client: the token is put on here, so that no client ever
 * holds it, and only for addresses below the host's API; limits are kept; what is not a good answer becomes a fault.
 */
import type { Clock } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import { hostLabel } from './base-urls.ts';
import type { GitHostAccess } from './git-hosts.ts';
import {
  type Answer,
  evidenceOf,
  failed,
  misunderstood,
  notFound,
  type Refusal,
  rateLimited,
  rejected,
  scopesMissing,
  unreachable,
} from './host-faults.ts';
import { limitKey, noteLimits, waitMs } from './rate-limits.ts';

export interface HostInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly signal?: AbortSignal | null;
}

/** Sends a request and gives the answer as it is; follows no redirect. */
export type HostFetch = (url: string, init: HostInit) => Promise<Response>;

/** How a host says the things that all of them say in their own way. */
export interface Dialect {
  authorization(access: GitHostAccess): string;
  isLimited(answer: Answer): boolean;
  /** What is missing, where an answer with 403 is about that. */
  missing(answer: Answer): Refusal | undefined;
}

export interface HostCalls {
  readonly access: GitHostAccess;
  readonly label: string;
  readonly apiUrl: string;
  readonly clock: Clock;
  /** Gives good answers only, with JSON or nothing in them. */
  call(url: string, init?: HostInit): Promise<Response>;
}

const mostRedirects = 3;

export function createCalls(
  access: GitHostAccess,
  apiUrl: string,
  dialect: Dialect,
  fetch: HostFetch,
  clock: Clock,
): HostCalls {
  const { token } = access;
  const label = hostLabel(access.kind, access.baseUrl);
  const key = limitKey(apiUrl, token);
  const now = () => clock.now().getTime();

  async function send(url: string, init: HostInit): Promise<Answer> {
    const wait = waitMs(key, now());
    if (wait > 0) throw rateLimited(label, wait);
    const headers = {
      accept: 'application/json',
      'user-agent': 'Slipway',
      ...init.headers,
      authorization: dialect.authorization(access),
    };
    try {
      const response = await fetch(url, { ...init, headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
    } catch (error) {
      init.signal?.throwIfAborted();
      // An address that may not be asked is for the person to correct, not for the host.
      if (error instanceof Fault && error.code !== 'egress_failed') throw error;
      const said =
        error instanceof Fault ? [error.message, error.evidence].filter(Boolean).join(' ') : errorText(error);
      throw unreachable(label, said, error);
    }
  }

  /** A repository that was renamed answers with its new place; the same host may be asked again, another never. */
  async function follow(url: string, init: HostInit): Promise<Answer> {
    let at = ownUrl(url);
    for (let count = 0; ; count++) {
      const answer = await send(at, init);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399 || location === null) return answer;
      const isSafe = (init.method ?? 'GET') === 'GET' || answer.status === 307 || answer.status === 308;
      if (!isSafe || count === mostRedirects) throw failed(label, answer, evidenceOf(answer, token));
      at = ownUrl(URL.parse(location, at)?.href ?? '');
    }
  }

  function ownUrl(text: string): string {
    const [url, api] = [URL.parse(text), new URL(apiUrl)];
    if (url?.origin === api.origin && `${url.pathname}/`.startsWith(`${api.pathname.replace(/\/$/, '')}/`))
      return url.href;
    throw new Fault(
      'provider_failed',
      `${label} refers to another address, ${url?.origin ?? 'an unknown one'}.`,
      {
        hint: 'If the host has moved, give its new address.',
      },
    );
  }

  function judge(answer: Answer): void {
    const isLimited = answer.status === 429 || dialect.isLimited(answer);
    noteLimits(key, answer.headers, now(), isLimited);
    if (isLimited) throw rateLimited(label, waitMs(key, now()));
    const evidence = evidenceOf(answer, token);
    if (answer.status === 401) throw rejected(label, evidence);
    if (answer.status === 403)
      throw scopesMissing(label, dialect.missing(answer) ?? { scopes: [] }, evidence);
    if (answer.status === 404) throw notFound(label, evidence);
    if (answer.status >= 300) throw failed(label, answer, evidence);
    if (answer.text !== '' && answer.body === undefined) throw misunderstood(label, evidence);
  }

  return {
    access,
    label,
    apiUrl,
    clock,
    async call(url, init = {}) {
      const answer = await follow(url, init);
      judge(answer);
      const headers = new Headers(answer.headers);
      // The text was unpacked and is JSON; what said otherwise would mislead a client.
      for (const name of ['content-encoding', 'content-length', 'deprecation']) headers.delete(name);
      headers.set('content-type', 'application/json');
      return new Response(answer.text === '' ? null : answer.text, {
        status: answer.text === '' ? 204 : answer.status,
        headers,
      });
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a client threw, without what it wrapped around it: the fault inside, or the reason of who stopped it. */
export async function unwrapped<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && error.cause instanceof Fault) throw error.cause;
    throw error;
  }
}

/** Something else in the place of «not found». */
export async function unlessMissing<T, E>(work: Promise<T>, otherwise: () => E): Promise<T | E> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Fault && error.code === 'repository_not_found') return otherwise();
    throw error;
  }
}

/** Where no account is found there is no such API: the address leads somewhere else. */
export function noAccount(label: string): never {
  throw misunderstood(label, 'there is no account to ask for');
}
