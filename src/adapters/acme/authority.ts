/**
 * Requests to an ACME authority (RFC 8555, section 6). Every one of them goes through here: it is signed, has a nonce
 * that was not used before, is bounded in time and size, and what is no good answer becomes a fault.
 */
import type { KeyObject } from 'node:crypto';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Clock } from '../../clock.ts';
import { errorText, Fault } from '../../fault.ts';
import type { OutboundFetch, OutboundRequest } from '../../outbound-fetch.ts';
import { signedBody } from './account-key.ts';
import { nonsense, rateLimited, refused, unreachable } from './acme-faults.ts';
import { problemIn, retryAfterOf, shown } from './problem.ts';

export interface AuthorityOptions {
  readonly directoryUrl: string;
  readonly userAgent: string;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
  readonly requestMs: number;
  /** Fails with the reason of the signal once that says stop. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const Address = Type.String({ pattern: '^https?://' });
const Directory = Type.Object({
  newNonce: Address,
  newAccount: Address,
  newOrder: Address,
  revokeCert: Address,
  renewalInfo: Type.Optional(Address),
});
export type Directory = Static<typeof Directory>;

export interface Answer {
  readonly headers: Headers;
  readonly text: string;
}

/** Who signs; without an address, the key itself goes along, as for an account that is to be made. */
export interface Signer {
  readonly key: KeyObject;
  readonly url?: string;
}

export interface Authority {
  /** The name of its machine, for sentences. */
  readonly label: string;
  directory(signal: AbortSignal): Promise<Directory>;
  get(url: string, signal: AbortSignal): Promise<Answer>;
  /** Does something. It is sent once: doing it twice could count twice against a limit. */
  post(signer: Signer, url: string, payload: object, signal: AbortSignal): Promise<Answer>;
  /** Reads something that only the account may see. */
  read(signer: Signer, url: string, signal: AbortSignal): Promise<Answer>;
  /** What the JSON of an answer holds, if it has the shape. */
  shaped<T extends TSchema>(schema: T, answer: Answer): Static<T>;
  retryAfter(answer: Answer): number | undefined;
}

const maxBodyBytes = 512 * 1024;
const mostBadNonces = 5;
const mostNonces = 16;
const directoryMs = 60 * 60 * 1000;
/** Before a reading is tried again; an authority that wants more time gets it between orders, not inside one. */
const patienceMs = [1000, 3000];

export function createAuthority(options: AuthorityOptions): Authority {
  const { directoryUrl, userAgent, clock, requestMs, wait } = options;
  const home = new URL(directoryUrl);
  const label = home.host;
  const nonces: string[] = [];
  let known: { readonly directory: Directory; readonly until: number } | undefined;
  const now = () => clock.now();

  async function send(
    url: string,
    init: OutboundRequest & { readonly signal: AbortSignal },
  ): Promise<Answer & { readonly status: number }> {
    // An authority reached by TLS does not lead out of it.
    if (URL.parse(url)?.protocol !== home.protocol) throw nonsense(label, `it names the address ${url}`);
    try {
      const response = await options.fetch(url, {
        ...init,
        headers: { ...init.headers, 'user-agent': userAgent },
        headersTimeoutMs: requestMs,
        bodyTimeoutMs: requestMs,
        // The limit is kept here, where too much is told from broken off.
        maxBodyBytes: Number.MAX_SAFE_INTEGER,
      });
      const nonce = response.headers.get('replay-nonce') ?? '';
      if (/^[\w-]{1,512}$/.test(nonce)) nonces.push(nonce);
      if (nonces.length > mostNonces) nonces.shift();
      const text = await readBounded(response, label);
      return { status: response.status, headers: response.headers, text };
    } catch (error) {
      init.signal.throwIfAborted();
      // An address that may not be asked is for the settings to correct.
      if (error instanceof Fault && error.code !== 'egress_failed') throw error;
      const more = error instanceof Fault ? error.evidence : undefined;
      throw unreachable(label, [errorText(error), more].filter(Boolean).join(' '), { cause: error });
    }
  }

  function judge(url: string, { status, headers, text }: Answer & { readonly status: number }): void {
    if (status >= 200 && status <= 299) return;
    const problem = problemIn(jsonOf(text));
    const retryAfterSeconds = retryAfterOf(headers, problem?.message ?? '', now());
    if (status === 429 || problem?.is('rateLimited')) throw rateLimited(label, problem, retryAfterSeconds);
    const said = `status ${status}: ${problem ? `${problem.type}: ${problem.message}` : shown(text)}`;
    if (status >= 500) throw unreachable(label, said, { cause: problem, retryAfterSeconds });
    if (status < 400) throw nonsense(label, `${said} ${new URL(url).pathname} is a redirect`);
    throw problem ? refused(label, problem) : nonsense(label, said);
  }

  /** For what may be asked twice: one failure on the way is not the end of an order. */
  async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (const ms of patienceMs) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const isTransient = error instanceof Fault && error.code === 'acme_unreachable';
        if (!isTransient || (error.retryAfterSeconds ?? 0) * 1000 > ms) throw error;
        await wait(ms, signal);
      }
    }
    return work();
  }

  async function get(url: string, signal: AbortSignal, method = 'GET'): Promise<Answer> {
    return patiently(signal, async () => {
      const answer = await send(url, { method, headers: { accept: 'application/json' }, signal });
      judge(url, answer);
      return answer;
    });
  }

  async function nonce(signal: AbortSignal): Promise<string> {
    const { newNonce } = await directory(signal);
    if (nonces.length === 0) await get(newNonce, signal, 'HEAD');
    const found = nonces.pop();
    if (found === undefined) throw nonsense(label, 'it gives no nonce');
    return found;
  }

  async function directory(signal: AbortSignal): Promise<Directory> {
    if (known && known.until > now().getTime()) return known.directory;
    const found = shaped(Directory, await get(directoryUrl, signal));
    known = { directory: found, until: now().getTime() + directoryMs };
    return found;
  }

  async function signed(
    { key, url: kid }: Signer,
    url: string,
    payload: object | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    for (let count = 0; count < mostBadNonces; count++) {
      const body = JSON.stringify(signedBody(key, { url, nonce: await nonce(signal), kid }, payload));
      const headers = { 'content-type': 'application/jose+json', accept: '*/*' };
      const answer = await send(url, { method: 'POST', headers, body, signal });
      if (answer.status === 400 && problemIn(jsonOf(answer.text))?.is('badNonce')) {
        // Those that were kept have most likely gone stale together; what came with the refusal is fresh.
        nonces.splice(0, nonces.length - 1);
        continue;
      }
      judge(url, answer);
      return answer;
    }
    throw nonsense(label, `it refused ${mostBadNonces} nonces of its own, one after the other`);
  }

  function shaped<T extends TSchema>(schema: T, { text }: Answer): Static<T> {
    const value = jsonOf(text);
    if (value === undefined) throw nonsense(label, `it is no JSON: ${shown(text).slice(0, 200)}`);
    if (Value.Check(schema, value)) return value;
    const [first] = Value.Errors(schema, value);
    throw nonsense(label, `${first?.instancePath || 'the answer'} ${first?.message ?? 'is wrong'}`);
  }

  return {
    label,
    directory,
    get: (url, signal) => get(url, signal),
    post: signed,
    read: (signer, url, signal) => patiently(signal, () => signed(signer, url, undefined, signal)),
    shaped,
    retryAfter: ({ headers }) => retryAfterOf(headers, '', now()),
  };
}

async function readBounded(response: Response, label: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop by a fault cancels the rest.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBodyBytes) throw nonsense(label, `it is larger than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
