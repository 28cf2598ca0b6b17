/** How many requests each token has left. In memory: a restarted host begins a new hour. */
import { ApiError } from './answers.ts';

export type Resource = 'core' | 'search';

export interface Allowance {
  readonly resource: Resource;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly reset: number;
}

interface Bucket {
  limit: number;
  used: number;
  reset: number;
}

const windowSeconds = { core: 3600, search: 60 } as const;
/** What GitHub gives: with a token, and to an address without one. */
const usual = { core: [5000, 60], search: [30, 10] } as const;

export class RateLimits {
  readonly #buckets = new Map<string, Bucket>();
  readonly #blockedUntil = new Map<string, number>();

  /** Takes one request off, or refuses it. */
  take(who: string, signedIn: boolean, resource: Resource): void {
    const wait = (this.#blockedUntil.get(who) ?? 0) - now();
    if (wait > 0) throw secondaryLimit(wait);
    const bucket = this.#bucket(who, signedIn, resource);
    if (bucket.used >= bucket.limit) {
      const hint = signedIn ? '' : ' (Authenticated requests get a higher rate limit.)';
      throw new ApiError(403, `API rate limit exceeded for ${signedIn ? 'this token' : who}.${hint}`);
    }
    bucket.used += 1;
  }

  /** An answer that said "not modified" costs nothing. */
  giveBack(who: string, signedIn: boolean, resource: Resource): void {
    const bucket = this.#bucket(who, signedIn, resource);
    bucket.used = Math.max(0, bucket.used - 1);
  }

  read(who: string, signedIn: boolean, resource: Resource): Allowance {
    const { limit, used, reset } = this.#bucket(who, signedIn, resource);
    return { resource, limit, used, remaining: Math.max(0, limit - used), reset };
  }

  set(who: string, limit: number, remaining: number): void {
    this.#buckets.set(`core ${who}`, { limit, used: limit - remaining, reset: now() + windowSeconds.core });
  }

  /** For so long every request is answered with the secondary limit; 0 ends it. */
  block(who: string, seconds: number): void {
    this.#blockedUntil.set(who, now() + seconds);
  }

  #bucket(who: string, signedIn: boolean, resource: Resource): Bucket {
    const key = `${resource} ${who}`;
    const [withToken, without] = usual[resource];
    const found = this.#buckets.get(key);
    if (found && found.reset > now()) return found;
    const limit = found?.limit ?? (signedIn ? withToken : without);
    const fresh = { limit, used: 0, reset: now() + windowSeconds[resource] };
    this.#buckets.set(key, fresh);
    return fresh;
  }
}

export function secondaryLimit(seconds: number): ApiError {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  return new ApiError(429, message, {}, { 'Retry-After': String(seconds) });
}

export function limitHeaders(allowance: Allowance): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(allowance.limit),
    'X-RateLimit-Remaining': String(allowance.remaining),
    'X-RateLimit-Reset': String(allowance.reset),
    'X-RateLimit-Used': String(allowance.used),
    'X-RateLimit-Resource': allowance.resource,
  };
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
