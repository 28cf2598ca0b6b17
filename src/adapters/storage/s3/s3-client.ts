/**
 * Requests to an S3. Every one goes through here: signed with the hash of its body, bounded in time and size, and sent
 * again after a while where the store is busy or the connection broke. All of them may be sent twice without harm.
 */
import type { Clock } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { OutboundFetch } from '../../../outbound-fetch.ts';
import { answerBytes, errorIn, type S3Error } from './s3-answers.ts';
import { faultOfError, faultOfNetwork, isPassing } from './s3-faults.ts';
import type { S3Place } from './s3-place.ts';
import { type SigningKey, sha256, signed } from './sigv4.ts';

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Absent: the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | { readonly bytes: Buffer; readonly sha256: string };
  readonly signal: AbortSignal;
}

export interface S3Answer {
  readonly headers: Headers;
  readonly text: string;
}

export interface S3ClientOptions {
  readonly place: S3Place;
  readonly key: SigningKey;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
  readonly attempts: number;
  /** How long a body may stand still. */
  readonly idleMs: number;
  /** Fails with the reason of the signal once that says stop. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Tried<T> =
  | { readonly error: S3Error; readonly answer?: undefined }
  | { readonly answer: T; readonly error?: undefined };

const firstPauseMs = 250;
const longestPauseMs = 20_000;
const longestRetryAfterSeconds = 60;
/** A store may join the parts of a large object for minutes before it answers. */
const answerMs = 10 * 60_000;
/** A line slower than this is not worth waiting for. */
const leastBytesPerSecond = 32 * 1024;
const slowestAnswerMs = 60_000;
const sliceBytes = 256 * 1024;
/** The longest that a timer can wait. A body that stands still is given up by who reads it. */
const anyTimeMs = 2 ** 31 - 1;

export class S3Client {
  readonly place: S3Place;
  readonly attempts: number;
  readonly idleMs: number;
  readonly #options: S3ClientOptions;

  constructor(options: S3ClientOptions) {
    this.place = options.place;
    this.attempts = options.attempts;
    this.idleMs = options.idleMs;
    this.#options = options;
  }

  /** The answer, or why there is none that was wanted; fails as a fault where the store stays away. */
  async ask(request: S3Request): Promise<S3Answer | S3Error> {
    const tried = await this.#repeat(request.signal, async (): Promise<Tried<S3Answer>> => {
      const answer = await this.#send(request, { bodyMs: answerMs, bodyBytes: answerBytes });
      const text = await answer.text();
      const error = errorIn(answer.status, answer.headers, text);
      return error ? { error } : { answer: { headers: answer.headers, text } };
    });
    return tried.error ?? tried.answer;
  }

  /** Only an answer that is none of an error. */
  async askFor(request: S3Request): Promise<S3Answer> {
    const answer = await this.ask(request);
    if ('code' in answer) throw faultOfError(answer, this.place);
    return answer;
  }

  /** Headers are there, the body is still to come, of any length and in any time. */
  async open(request: S3Request): Promise<Response> {
    const tried = await this.#repeat(request.signal, async (): Promise<Tried<Response>> => {
      const limits = { bodyMs: anyTimeMs, bodyBytes: Number.MAX_SAFE_INTEGER };
      const answer = await this.#send(request, limits);
      const error = answer.ok ? undefined : errorIn(answer.status, answer.headers, await shortText(answer));
      return error ? { error } : { answer };
    });
    if (tried.error) throw faultOfError(tried.error, this.place);
    return tried.answer;
  }

  /** Before the next try, longer each time. */
  backOff(failures: number, signal: AbortSignal, retryAfterSeconds = 0): Promise<void> {
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1));
    const asked = Math.min(retryAfterSeconds, longestRetryAfterSeconds) * 1000;
    // Spread, so that those who were sent away together do not come back together.
    return this.#options.wait(Math.max(asked, pause * (0.5 + Math.random() / 2)), signal);
  }

  #send(request: S3Request, limits: { bodyMs: number; bodyBytes: number }): Promise<Response> {
    const { key, clock } = this.#options;
    const { method, body = '', signal } = request;
    const isText = typeof body === 'string';
    const bytes = isText ? Buffer.byteLength(body) : body.bytes.length;
    const payload = isText ? sha256(body) : body.sha256;
    const url = this.place.url(request.key, request.query);
    const headers = { ...request.headers, 'x-amz-content-sha256': payload };
    const isSending = method === 'PUT' || method === 'POST';
    return this.#options.fetch(url.href, {
      method,
      headers: {
        ...signed({ method, url, headers, payload }, key, clock.now()),
        // Never unpacked on the way: the bytes are counted and held against their length.
        'accept-encoding': 'identity',
        ...(isSending && { 'content-length': String(bytes) }),
      },
      body: bytes === 0 ? null : isText ? body : slices(body.bytes),
      signal,
      headersTimeoutMs: method === 'POST' ? answerMs : slowestAnswerMs + (bytes / leastBytesPerSecond) * 1000,
      bodyTimeoutMs: limits.bodyMs,
      maxBodyBytes: limits.bodyBytes,
    });
  }

  async #repeat<T>(signal: AbortSignal, attempt: () => Promise<Tried<T>>): Promise<Tried<T>> {
    for (let failures = 1; ; failures += 1) {
      let retryAfterSeconds: number | undefined;
      try {
        const tried = await attempt();
        if (tried.error === undefined || !isPassing(tried.error) || failures >= this.attempts) return tried;
        retryAfterSeconds = tried.error.retryAfterSeconds;
      } catch (error) {
        signal.throwIfAborted();
        if (!isBroken(error) || failures >= this.attempts) throw faultOfNetwork(error);
      }
      await this.backOff(failures, signal, retryAfterSeconds);
    }
  }
}

/** A certificate that is not trusted now will not be in a second. */
export function isBroken(error: unknown): boolean {
  return (
    error instanceof Fault && error.code === 'egress_failed' && !/CERT|SIGNED/.test(error.evidence ?? '')
  );
}

/** An error's words; what goes on for longer than any error does is not from an S3. */
async function shortText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  if (answer.body === null) return '';
  for await (const part of answer.body) {
    bytes += part.length;
    if (bytes > 64 * 1024) return '';
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Views, not copies: what is handed over whole would be copied on its way out. */
async function* slices(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes);
}
