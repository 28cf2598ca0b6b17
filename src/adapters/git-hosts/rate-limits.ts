/**
 * Until when a host takes no more requests for a token. Kept for all who use that token, so that one of them that was
 * told to wait makes the others wait too. The token itself is not kept, only what tells it from others.
 */
import { createHash } from 'node:crypto';
import type { Secret } from '../../secret.ts';

/** A wait that a host names by mistake, in milliseconds say, must not close it for years. */
const longestMs = 60 * 60 * 1000;
/** Where a host refuses and names no time. */
const usualMs = 60 * 1000;
const mostKept = 10_000;

const waits = new Map<string, number>();

export function limitKey(apiUrl: string, token: Secret): string {
  return createHash('sha256').update(`${apiUrl}\n${token.reveal()}`).digest('base64');
}

export function waitMs(key: string, now: number): number {
  const until = waits.get(key) ?? 0;
  if (until <= now) waits.delete(key);
  return Math.max(0, until - now);
}

/** What the headers of an answer say of the next request; `isRefused` where this one was refused already. */
export function noteLimits(key: string, headers: Headers, now: number, isRefused: boolean): void {
  const named = retryAfter(headers, now) ?? resetAt(headers, now, isRefused);
  const until = named ?? (isRefused ? now + usualMs : undefined);
  if (until === undefined || until <= now) return;
  if (waits.size >= mostKept) for (const [each, end] of waits) if (end <= now) waits.delete(each);
  waits.set(key, Math.min(until, now + longestMs));
}

function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const at = /^\d+$/.test(value) ? now + Number(value) * 1000 : Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}

/** Nothing left until then. A small number is a number of seconds, a large one a time. */
function resetAt(headers: Headers, now: number, isRefused: boolean): number | undefined {
  const read = (name: string) => headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`);
  const [remaining, reset] = [read('remaining'), Number(read('reset') ?? Number.NaN)];
  if (Number.isNaN(reset) || !(remaining === '0' || (isRefused && remaining === null))) return undefined;
  return reset < 1e9 ? now + reset * 1000 : reset * 1000;
}
