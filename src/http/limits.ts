/** Which limit counts for which request, and how the answer tells it (the `RateLimit` header fields). */
import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import { networkOf, prefixOf } from '../network.ts';
import { type KnownDevice, normaliseEmail, type Principal, type Sessions } from '../principal.ts';
import type { MasterKeys } from '../store/master-keys.ts';
import { deviceTokenOf } from './cookies.ts';
import { principalOf } from './scope.ts';
import { type Policy, type Throttle, type Verdict, windowSeconds } from './throttle.ts';

/** What costs more than a look into our own database. */
export type OwnLimit = 'search' | 'trigger' | 'server-test' | 'connector-test';

/** What a call of the accounts could be misused for: to guess a secret, or to send mails to someone. */
export type SignInLimit = 'guess' | 'mail';

/**
 * How many times the limit of one caller (and of one e-mail from one network): all callers of a network together, and what
 * one e-mail takes from all networks. One network never uses that up, so nobody keeps an owner out from there. A mail that
 * a stranger asked for reaches the owner all the same: there the smaller number keeps the mailbox from being flooded.
 */
const shares = { network: 10, guess: 5, mail: 2 } as const;

/** What was found out when the request arrived. */
interface Arrival {
  readonly device: KnownDevice | undefined;
  readonly counted: Counted;
}

interface Counted {
  /** What has the least left: the answer tells it. */
  readonly least?: Verdict;
  /** The first that is over, where one is. */
  readonly refused?: Verdict;
}

export class Limits {
  readonly #throttle: Throttle;
  readonly #keys: MasterKeys;
  readonly #sessions: Pick<Sessions, 'byDeviceToken'>;
  readonly #arrivals = new WeakMap<FastifyRequest, Arrival>();
  readonly #requests: Policy;
  readonly #signInLimit: number;
  readonly #own: Readonly<Record<OwnLimit, Policy>>;

  constructor(
    throttle: Throttle,
    keys: MasterKeys,
    sessions: Pick<Sessions, 'byDeviceToken'>,
    config: Pick<Config, 'limitRequests' | 'limitSignIn' | 'limitSearch' | 'limitTriggers' | 'limitTests'>,
  ) {
    this.#throttle = throttle;
    this.#keys = keys;
    this.#sessions = sessions;
    this.#requests = { name: 'requests', limit: config.limitRequests, strict: false };
    this.#signInLimit = config.limitSignIn;
    this.#own = {
      search: { name: 'search', limit: config.limitSearch, strict: false },
      trigger: { name: 'trigger', limit: config.limitTriggers, strict: false },
      'server-test': { name: 'server-test', limit: config.limitTests, strict: false },
      'connector-test': { name: 'connector-test', limit: config.limitTests, strict: false },
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

  /** Before the body is read: by caller, then by the network that it is in. */
  async countArrival(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const counted = await this.#countAll(request, reply, [
      [`ip:${networkOf(request.ip)}`, 1],
      [`network:${prefixOf(request.ip)}`, shares.network],
    ]);
    const token = deviceTokenOf(request);
    const device = token === undefined ? undefined : await this.#sessions.byDeviceToken(token);
    // A known device may still pass, for what it is known for: that is in the body.
    if (counted.refused && !device) refuse(counted.refused);
    this.#arrivals.set(request, { device, counted });
  }

  /** With the body: by e-mail, where it names one. A device that is known for the e-mail has a count of its own. */
  async countSignIn(request: FastifyRequest, reply: FastifyReply, kind: SignInLimit): Promise<void> {
    const { device, counted = {} } = this.#arrivals.get(request) ?? {};
    const email = emailOf(request.body);
    if (email !== undefined && device?.isOf(normaliseEmail(email))) {
      const { refused } = await this.#countAll(request, reply, [[`device:${device.id}`, 1]]);
      if (refused) refuse(refused);
      return;
    }
    if (counted.refused) refuse(counted.refused);
    if (email === undefined) return;
    const blind = this.#blind(email);
    const subjects = [
      [`email:${blind}:${prefixOf(request.ip)}`, 1],
      [`email:${blind}`, shares[kind]],
    ] as const;
    const { refused } = await this.#countAll(request, reply, subjects, counted.least);
    if (refused) refuse(refused);
  }

  /**
   * Counts one after the other, until one is over: who is refused by address must not use up the calls of a whole network,
   * or of someone else's e-mail.
   */
  async #countAll(
    request: FastifyRequest,
    reply: FastifyReply,
    subjects: readonly (readonly [subject: string, share: number])[],
    before?: Verdict,
  ): Promise<Counted> {
    const name = operationOf(request);
    let least = before;
    for (const [subject, share] of subjects) {
      const limit = this.#signInLimit * share;
      const verdict = await this.#throttle.hit({ name, limit, strict: true }, subject);
      if (!verdict.allowed) {
        tell(reply, verdict);
        return { least: verdict, refused: verdict };
      }
      if (!least || verdict.remaining < least.remaining) least = verdict;
    }
    if (least) tell(reply, least);
    return least ? { least } : {};
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

function tell(reply: FastifyReply, { policy, remaining, resetSeconds }: Verdict): void {
  reply.header('ratelimit-policy', `"${policy.name}";q=${policy.limit};w=${windowSeconds}`);
  reply.header('ratelimit', `"${policy.name}";r=${remaining};t=${resetSeconds}`);
}

function refuseIfOver(verdict: Verdict): void {
  if (!verdict.allowed) refuse(verdict);
}

function refuse({ policy, resetSeconds: seconds }: Verdict): never {
  throw new Fault('rate_limited', `Too many requests: ${policy.limit} a minute are allowed.`, {
    hint: `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    retryAfterSeconds: seconds,
  });
}
