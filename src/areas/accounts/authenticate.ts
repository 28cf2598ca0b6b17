/** From what a request carries to who makes it. Asks the database each time: a session that ended is over. */
import type { Clock } from '../../clock.ts';
import type { SessionId } from '../../ids.ts';
import type { Database } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import type { Principal } from './accounts.ts';
import { findPrincipals, takeStreamTicket } from './session-queries.ts';
import { AccessTokens, hashOpaqueToken, unauthenticated } from './tokens.ts';

interface Waiting {
  readonly sessionId: SessionId;
  readonly resolve: (principal: Principal | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class Authenticator {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;
  #waiting: Waiting[] = [];

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

  /**
   * All requests that arrive in one turn of the event loop share one query. So the answer is never stale, and
   * under load costs a fraction of a query.
   */
  #load(sessionId: SessionId): Promise<Principal | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ sessionId, resolve, reject }) === 1) setImmediate(() => this.#loadWaiting());
    });
  }

  async #loadWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const ids = [...new Set(waiting.map((each) => each.sessionId))];
      const found = new Map<SessionId, Principal>();
      for (const each of await findPrincipals(this.#db, ids, this.#clock.now()))
        found.set(each.sessionId, each);
      for (const { sessionId, resolve } of waiting) resolve(found.get(sessionId));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
