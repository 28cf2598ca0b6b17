/** Which limit counts for which request, and how the answer tells it (the `RateLimit` header fields). */
import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import { normaliseEmail, type Principal } from '../principal.ts';
import type { MasterKeys } from '../store/master-keys.ts';
import { principalOf } from './scope.ts';
import { type Policy, type Throttle, type Verdict, windowSeconds } from './throttle.ts';

/** What costs more than a look into our own database. */
export type OwnLimit = 'search' | 'trigger';

export class Limits {
  readonly #throttle: Throttle;
  readonly #keys: MasterKeys;
  readonly #requests: Policy;
  readonly #signInLimit: number;
  readonly #own: Readonly<Record<OwnLimit, Policy>>;

  constructor(
    throttle: Throttle,
    keys: MasterKeys,
    config: Pick<Config, 'limitRequests' | 'limitSignIn' | 'limitSearch' | 'limitTriggers'>,
  ) {
    this.#throttle = throttle;
    this.#keys = keys;
    this.#requests = { name: 'requests', limit: config.limitRequests, strict: false };
    this.#signInLimit = config.limitSignIn;
    this.#own = {
      search: { name: 'search', limit: config.limitSearch, strict: false },
      trigger: { name: 'trigger', limit: config.limitTriggers, strict: false },
    };
  }

  /** The limit of every request: per account, and per address where there is none. */
  countRequest(request: FastifyRequest, reply: FastifyReply, principal: Principal | undefined): void {
    const subject = principal ? `account:${principal.accountId}` : `ip:${networkOf(request.ip)}`;
    const verdict = this.#throttle.hit(this.#requests, subject);
    if (verdict instanceof Promise)
      throw new Error('the limit of every request must not wait for the database');
    tell(reply, verdict);
    refuseIfOver(verdict);
  }

  /** The limit of what others have to work for: providers, servers. Per account; it is told instead of the general one. */
  async countOwn(request: FastifyRequest, reply: FastifyReply, which: OwnLimit): Promise<void> {
    const { accountId } = principalOf(request);
    const verdict = await this.#throttle.hit(this.#own[which], `account:${accountId}`);
    tell(reply, verdict);
    refuseIfOver(verdict);
  }

  /** The limit of what guesses could be tried on: per address, and per e-mail where the body names one. */
  async countSignIn(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const policy: Policy = { name: operationOf(request), limit: this.#signInLimit, strict: true };
    const subjects = [`ip:${networkOf(request.ip)}`];
    const email = emailOf(request.body);
    if (email !== undefined) subjects.push(`email:${this.#blind(email)}`);
    // One after the other: who is refused by address must not use up the calls of someone else's e-mail.
    const verdicts: Verdict[] = [];
    for (const subject of subjects) {
      const verdict = await this.#throttle.hit(policy, subject);
      verdicts.push(verdict);
      tell(
        reply,
        verdicts.reduce((one, other) => (other.remaining < one.remaining ? other : one)),
      );
      refuseIfOver(verdict);
    }
  }

  #blind(email: string): string {
    const mac = createHmac('sha256', this.#keys.derive('throttle')).update(normaliseEmail(email));
    return mac.digest('base64url').slice(0, 22);
  }
}

function operationOf(request: FastifyRequest): string {
  return (request.routeOptions.url ?? 'unknown').split('/').at(-1) ?? 'unknown';
}

function emailOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('email' in body)) return undefined;
  return typeof body.email === 'string' ? body.email : undefined;
}

/** An IPv6 customer has a whole /64 to call from: the network is the caller. */
function networkOf(ip: string): string {
  if (!isIPv6(ip)) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped) return mapped;
  const [head = '', tail = ''] = (ip.split('%')[0] ?? ip).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`;
}

function tell(reply: FastifyReply, { policy, remaining, resetSeconds }: Verdict): void {
  reply.header('ratelimit-policy', `"${policy.name}";q=${policy.limit};w=${windowSeconds}`);
  reply.header('ratelimit', `"${policy.name}";r=${remaining};t=${resetSeconds}`);
}

function refuseIfOver(verdict: Verdict): void {
  if (verdict.allowed) return;
  const seconds = verdict.resetSeconds;
  throw new Fault('rate_limited', `Too many requests: ${verdict.policy.limit} a minute are allowed.`, {
    hint: `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryAfterSeconds: seconds,
  });
}
