/** From what a request carries to who makes it. Asks the database each time: a session or token that ended is over. */
import { type Clock, minute } from '../../clock.ts';
import type { AccountId, ApiTokenId, SessionId } from '../../ids.ts';
import {
  type Credential,
  type KnownDevice,
  type Membership,
  type Principal,
  type Sessions,
  unauthenticated,
} from '../../principal.ts';
import type { Database } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import { hashApiToken, isApiToken, looksLikeApiToken } from './api-tokens/api-token.ts';
import { noteUses } from './api-tokens/queries.ts';
import { findDevice } from './devices.ts';
import { isOperator } from './queries.ts';
import {
  findPrincipals,
  findTokenPrincipals,
  type TokenPrincipal,
  takeStreamTicket,
} from './session-queries.ts';
import { AccessTokens, hashOpaqueToken } from './tokens.ts';

/** When a token was last used is told to the minute: a program that asks all day writes once in each. */
const noteUseEveryMs = minute;

export class Authenticator implements Sessions {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #tokens: AccessTokens;
  readonly #sessions: Batched<SessionId>;
  readonly #apiTokens: Batched<string>;

  constructor(db: Database, clock: Clock, keys: MasterKeys) {
    this.#db = db;
    this.#clock = clock;
    this.#tokens = new AccessTokens(keys);
    this.#sessions = new Batched((ids) => this.#bySessions(ids));
    this.#apiTokens = new Batched((hashes) => this.#byTokenHashes(hashes));
  }

  async byBearer(token: string): Promise<Principal> {
    if (looksLikeApiToken(token)) return this.#byApiToken(token);
    const claims = await this.#tokens.verify(token, this.#clock.now());
    const principal = await this.#sessions.load(claims.sessionId);
    if (principal?.accountId === claims.accountId) return principal;
    throw unauthenticated('The session has ended.');
  }

  async #byApiToken(token: string): Promise<Principal> {
    // What was mistyped or cut off is told so, without a look into the database.
    if (!isApiToken(token)) throw unauthenticated('The API token is not whole: its checksum is wrong.');
    const principal = await this.#apiTokens.load(hashApiToken(token).toString('hex'));
    if (principal) return principal;
    throw unauthenticated(
      'The API token is unknown, revoked or expired, or its maker has left the workspace.',
    );
  }

  /** Takes the ticket: it works once. */
  async byStreamTicket(ticket: string): Promise<Principal> {
    const sessionId = await takeStreamTicket(this.#db, hashOpaqueToken(ticket), this.#clock.now());
    const principal = sessionId && (await this.#sessions.load(sessionId));
    if (principal) return principal;
    throw unauthenticated('The stream ticket is unknown, expired or already used.');
  }

  async byCredentials(credentials: readonly Credential[]): Promise<Map<Credential['id'], Principal>> {
    const sessions = new Set<SessionId>();
    const tokens = new Set<ApiTokenId>();
    for (const each of credentials) each.kind === 'session' ? sessions.add(each.id) : tokens.add(each.id);
    const found = new Map<Credential['id'], Principal>(await this.#bySessions([...sessions]));
    if (tokens.size === 0) return found;
    const rows = await findTokenPrincipals(this.#db, { ids: [...tokens] }, this.#clock.now());
    for (const row of rows) found.set(row.id, principalOfToken(row));
    return found;
  }

  byDeviceToken(token: string): Promise<KnownDevice | undefined> {
    return findDevice(this.#db, token, this.#clock.now());
  }

  isOperator(id: AccountId): Promise<boolean> {
    return isOperator(this.#db, id);
  }

  async #bySessions(ids: readonly SessionId[]): Promise<Map<SessionId, Principal>> {
    if (ids.length === 0) return new Map();
    const rows = await findPrincipals(this.#db, ids, this.#clock.now());
    return new Map(
      rows.map(({ sessionId: id, provenAt, ...account }) => [
        id,
        { ...account, credential: { kind: 'session', id, provenAt } },
      ]),
    );
  }

  async #byTokenHashes(hashes: readonly string[]): Promise<Map<string, Principal>> {
    const now = this.#clock.now();
    const rows = await findTokenPrincipals(this.#db, { hashes }, now);
    const unnoted = rows.filter(
      ({ lastUsedAt }) => now.getTime() - (lastUsedAt?.getTime() ?? 0) >= noteUseEveryMs,
    );
    if (unnoted.length > 0)
      await noteUses(
        this.#db,
        unnoted.map(({ id }) => id),
        now,
      );
    return new Map(rows.map((row) => [row.tokenHash.toString('hex'), principalOfToken(row)]));
  }
}

/** No more than its maker can, and of that only what it was made for. */
function principalOfToken({
  id,
  accountId,
  secondFactor,
  abilities,
  projectId,
  membership,
}: TokenPrincipal): Principal {
  const { role, projects } = membership;
  const own: Membership['projects'] =
    projectId === null
      ? projects
      : (projects?.filter((each) => each.projectId === projectId) ?? [
          { projectId, role: role === 'owner' ? 'admin' : role },
        ]);
  return {
    accountId,
    secondFactor,
    credential: { kind: 'token', id, abilities },
    memberships: [{ ...membership, projects: own }],
  };
}

interface Waiting<Key> {
  readonly key: Key;
  readonly resolve: (principal: Principal | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One query at a time; all who ask while it is under way share the next. So the answer is never older than the
 * question, and the busier it is, the less each one costs.
 */
class Batched<Key> {
  readonly #find: (keys: readonly Key[]) => Promise<Map<Key, Principal>>;
  #waiting: Waiting<Key>[] = [];
  #loading = false;

  constructor(find: (keys: readonly Key[]) => Promise<Map<Key, Principal>>) {
    this.#find = find;
  }

  load(key: Key): Promise<Principal | undefined> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, resolve, reject });
      if (!this.#loading) void this.#loadWaiting();
    });
  }

  async #loadWaiting(): Promise<void> {
    this.#loading = true;
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      try {
        const found = await this.#find([...new Set(waiting.map((each) => each.key))]);
        for (const { key, resolve } of waiting) resolve(found.get(key));
      } catch (error) {
        for (const { reject } of waiting) reject(error);
      }
    }
    this.#loading = false;
  }
}
