/**
 * Certificates from an authority that speaks ACME (RFC 8555), proven over HTTP-01. Who answers the challenges needs the
 * thumbprint of the account's key alone, so nothing is kept for each of them, on any server.
 */

import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, minute, second, systemClock } from '../../clock.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import type { Secret } from '../../secret.ts';
import { accountKeyOf, keyOf, newKey, thumbprintOf } from './account-key.ts';
import { nonsense, unreachable } from './acme-faults.ts';
import { createAuthority, type Signer } from './authority.ts';
import { checkIssued, type IssuedFacts } from './issued.ts';
import { type Preflight, placeOrder } from './order.ts';
import { saysAuthority } from './problem.ts';
import { renewalName } from './renewal-name.ts';

export { newKey as newAccountKey } from './account-key.ts';
export type { Preflight } from './order.ts';
export { saysAuthority } from './problem.ts';

export interface AcmeOptions {
  readonly directoryUrl: string;
  readonly userAgent: string;
  /** The way out; it holds which certificates the authority's own address is checked against. */
  readonly fetch: OutboundFetch;
  readonly clock?: Clock;
  readonly requestMs?: number;
  /** For a whole order, the waiting included. */
  readonly orderMs?: number;
  /** What tests put in the place of time. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface AcmeAccount {
  readonly key: Secret;
  readonly url: string;
}

export interface NewAccount {
  /** Made before, and kept: an account that it has already is found again, and not made twice. */
  readonly key?: Secret;
  readonly signal?: AbortSignal;
}

export interface Order {
  /** As A-labels; no wildcards, which HTTP-01 cannot prove. */
  readonly names: readonly [string, ...string[]];
  readonly csrKey?: Secret;
  readonly preflight: Preflight;
  /** The certificate that this one takes the place of: authorities count a renewal less than a new name. */
  readonly replaces?: string;
  readonly signal: AbortSignal;
}

export interface Issued extends IssuedFacts {
  readonly privateKey: Secret;
}

/** RFC 5280's numbers, of which an authority takes these from a subscriber. */
const revocationReasons = { unspecified: 0, keyCompromise: 1, superseded: 4, cessation: 5 } as const;
export type RevocationReason = keyof typeof revocationReasons;

export interface Acme {
  newAccount(request?: NewAccount): Promise<AcmeAccount & { readonly thumbprint: string }>;
  order(account: AcmeAccount, order: Order): Promise<Issued>;
  /** What is revoked already stays so, and is no failure. */
  revoke(
    account: AcmeAccount,
    certificate: string,
    reason?: RevocationReason,
    signal?: AbortSignal,
  ): Promise<void>;
}

const never = new AbortController().signal;

export function createAcme(options: AcmeOptions): Acme {
  const clock = options.clock ?? systemClock;
  const wait = options.wait ?? waitFor;
  const orderMs = options.orderMs ?? 5 * minute;
  const { directoryUrl, userAgent, fetch } = options;
  const requestMs = options.requestMs ?? 30 * second;
  const authority = createAuthority({ directoryUrl, userAgent, fetch, clock, requestMs, wait });
  const { label } = authority;

  return {
    async newAccount({ key = newKey(), signal = never } = {}) {
      const accountKey = accountKeyOf(key);
      const { newAccount } = await authority.directory(signal);
      const agreed = { termsOfServiceAgreed: true };
      const { headers } = await authority.post({ key: accountKey }, newAccount, agreed, signal);
      const url = headers.get('location') ?? '';
      if (!URL.canParse(url)) throw nonsense(label, 'it does not say where the account is');
      return { key, url, thumbprint: thumbprintOf(accountKey) };
    },

    async order(account, { names, csrKey = newKey(), preflight, replaces, signal }) {
      const limit = startDeadline(label, orderMs, signal);
      try {
        const certificateKey = keyOf(csrKey, 'certificate');
        const { renewalInfo } = await authority.directory(limit.signal);
        const text = await placeOrder(authority, {
          signer: signerOf(account),
          names,
          certificateKey,
          preflight,
          wait,
          replaces: renewalInfo && replaces ? renewalName(replaces) : undefined,
          signal: limit.signal,
          deadline: performance.now() + orderMs,
          now: () => performance.now(),
        });
        const wanted = { names, key: certificateKey, now: clock.now(), label };
        return { ...checkIssued(text, wanted), privateKey: csrKey };
      } finally {
        limit.done();
      }
    },

    async revoke(account, certificate, reason = 'unspecified', signal = never) {
      const { revokeCert } = await authority.directory(signal);
      const leaf = new X509Certificate(certificate).raw.toString('base64url');
      const request = { certificate: leaf, reason: revocationReasons[reason] };
      try {
        await authority.post(signerOf(account), revokeCert, request, signal);
      } catch (error) {
        if (!saysAuthority(error, 'alreadyRevoked')) throw error;
      }
    },
  };
}

/** What the servers need to answer every challenge of an account. */
export function thumbprint(key: Secret): string {
  return thumbprintOf(accountKeyOf(key));
}

function signerOf({ key, url }: AcmeAccount): Signer {
  return { key: accountKeyOf(key), url };
}

function startDeadline(label: string, ms: number, outer: AbortSignal) {
  const own = new AbortController();
  const why = () => unreachable(label, `the order took longer than ${ms / 1000} s`);
  const timer = setTimeout(() => own.abort(why()), ms);
  return { signal: AbortSignal.any([outer, own.signal]), done: () => clearTimeout(timer) };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
