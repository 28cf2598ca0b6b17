/** From what a request carries to who makes it. Asks the database each time: a session that ended is over. */
import type { Clock } from '../../clock.ts';
import type { SessionId } from '../../ids.ts';
import { type KnownDevice, type Principal, type Sessions, unauthenticated } from '../../principal.ts';
import type { Database } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import { findDevice } from './devices.ts';
import { findPrincipals, takeStreamTicket } from './session-queries.ts';
import { AccessTokens, hashOpaqueToken } from './tokens.ts';

interface Waiting {
  readonly sessionId: SessionId;
  readonly resolve: (principal: Principal | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class Authenticator implements Sessions {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;
  #waiting: Waiting[] = [];
  #loading = false;

  constructor(db: Database, clock: Clock, keys: MasterKeys) {
    this.#db = db;
    this.#clock = clock;
    this.#tokens = new AccessTokens(keys);
  }

  async byAccessToken(token: string): Promise<Principal> {
    const claims = await this.#tokens.verify(token, this.#clock.now());
    const principal = await this.#load(claims.sessionId);
    if (principal?.accountId === claims.accountId) return principal;
    throw unauthenticated('The session has ended.');
  }

  /** Takes the ticket: it works once. */
  async byStreamTicket(ticket: string): Promise<Principal> {
    const sessionId = await takeStreamTicket(this.#db, hashOpaqueToken(ticket), this.#clock.now());
    const principal = sessionId && (await this.#load(sessionId));
    if (principal) return principal;
    throw unauthenticated('The stream ticket is unknown, expired or already used.');
  }

  /** Who still stands behind these sessions; those that have ended are not in the answer. */
  async bySessions(ids: readonly SessionId[]): Promise<Map<SessionId, Principal>> {
    if (ids.length === 0) return new Map();
    const principals = await findPrincipals(this.#db, ids, this.#clock.now());
    return new Map(principals.map((each) => [each.sessionId, each]));
  }

  byDeviceToken(token: string): Promise<KnownDevice | undefined> {
    return findDevice(this.#db, token, this.#clock.now());
  }

  /**
   * One query at a time; all who ask while it is under way share the next. So the answer is never older than the
   * question, and the busier it is, the less each one costs.
   */
  #load(sessionId: SessionId): Promise<Principal | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ sessionId, resolve, reject });
      if (!this.#loading) void this.#loadWaiting();
    });
  }

  async #loadWaiting(): Promise<void> {
    this.#loading = true;
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        const found = await this.bySessions([...new Set(waiting.map((each) => each.sessionId))]);
        for (const { sessionId, resolve } of waiting) resolve(found.get(sessionId));
      } catch (error) {
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#loading = false;
  }
}
