/** The tokens an account is handed: made here, kept only as hashes, compared in constant time by lookup. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { minute, second } from '../../clock.ts';
import type { AccountId, SessionId } from '../../ids.ts';
import { once } from '../../once.ts';
import { unauthenticated } from '../../principal.ts';
import type { MasterKeys } from '../../store/master-keys.ts';

export const accessTokenSeconds = 15 * 60;

// Loaded with the first token: nobody needs it to start.
const jose = once(() => import('jose'));

const issuer = 'slipway';
const audience = 'slipway-api';
const algorithm = 'HS256';
const mostKnown = 5_000;

export interface AccessClaims {
  readonly accountId: AccountId;
  readonly sessionId: SessionId;
  readonly expiresAt: number;
}

export async function signAccessToken(
  keys: MasterKeys,
  now: Date,
  claims: Omit<AccessClaims, 'expiresAt'>,
): Promise<string> {
  const { SignJWT } = await jose();
  const issuedAt = Math.floor(now.getTime() / second);
  return new SignJWT({ sid: claims.sessionId })
    .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid: keys.current.id })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(claims.accountId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + accessTokenSeconds)
    .sign(keys.derive('access-token'));
}

/**
 * Checks access tokens. The algorithm is ours, never the token's. A token seen before is not computed again:
 * its signature cannot change, its time is looked at each time, and whether its session lives is asked elsewhere.
 */
export class AccessTokens {
  readonly #keys: MasterKeys;
  readonly #known = new Map<string, AccessClaims>();

  constructor(keys: MasterKeys) {
    this.#keys = keys;
  }

  /** At once for a token seen before, else in a moment. */
  verify(token: string, now: Date): AccessClaims | Promise<AccessClaims> {
    const known = this.#known.get(token);
    return known ? stillValid(known, now) : this.#compute(token, now);
  }

  #remember(token: string, claims: AccessClaims): void {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= mostKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(token, claims);
  }

  async #compute(token: string, now: Date): Promise<AccessClaims> {
    const { errors, jwtVerify } = await jose();
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keyFor(header.kid), {
        algorithms: [algorithm],
        typ: 'at+jwt',
        issuer,
        audience,
        currentDate: now,
        requiredClaims: ['sub', 'sid', 'exp', 'iat'],
      });
      const { sub, sid, exp } = payload;
      if (typeof sub !== 'string' || typeof sid !== 'string' || typeof exp !== 'number') {
        throw unauthenticated('The access token is incomplete.');
      }
      const claims = { accountId: sub as AccountId, sessionId: sid as SessionId, expiresAt: exp };
      this.#remember(token, claims);
      return claims;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw unauthenticated('The access token has expired.');
      if (error instanceof errors.JOSEError || error instanceof TypeError) {
        throw unauthenticated('The access token is not valid.');
      }
      throw error;
    }
  }

  #keyFor(id: string | undefined): Buffer {
    const master = id === undefined ? undefined : this.#keys.find(id);
    if (!master) throw unauthenticated('The access token is not valid.');
    return this.#keys.derive('access-token', master);
  }
}

function stillValid(claims: AccessClaims, now: Date): AccessClaims {
  if (claims.expiresAt * second <= now.getTime()) throw unauthenticated('The access token has expired.');
  return claims;
}

export const lifetimes = {
  otpMs: 10 * minute,
  resetMs: 30 * minute,
  streamTicketMs: 30 * second,
  challengeMs: 5 * minute,
  sessionMs: 30 * 24 * 60 * minute,
  registrationMs: 24 * 60 * minute,
  deviceMs: 180 * 24 * 60 * minute,
  /** Whatever others do meanwhile, a code that was sent works for so long. */
  otpLeastMs: 2 * minute,
} as const;

/** Tries of a code: from one network, and from all. */
export const otpTries = { perNetwork: 5, inAll: 20 } as const;

export interface OpaqueToken {
  readonly token: string;
  readonly hash: Buffer;
}

/** 256 random bits; what names the kind keeps one from being mistaken for another. */
export function newOpaqueToken(
  kind:
    | 'challenge'
    | 'consent'
    | 'device'
    | 'device_code'
    | 'invitation'
    | 'oidc'
    | 'refresh'
    | 'reset'
    | 'ticket',
): OpaqueToken {
  const token = `${kind}_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashOpaqueToken(token) };
}

export function hashOpaqueToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function newOtpSeed(): Buffer {
  return randomBytes(16);
}

/** Six digits are guessed from a plain hash in no time, so these follow from a key that is not in the database. */
export function otpOf(keys: MasterKeys, email: string, seed: Buffer): string {
  const mac = createHmac('sha256', keys.derive('one-time-code'));
  const digest = mac.update(JSON.stringify([email, seed.toString('hex')])).digest();
  return String(digest.readUIntBE(0, 6) % 1_000_000).padStart(6, '0');
}

export function isSameOtp(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
