/**
 * `Idempotency-Key`: a request that is sent twice is done once. The answer is stored in the same transaction as the
 * change it tells, so that there is no moment at which one exists without the other. Per workspace, for 24 hours.
 */
import { createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import { type Clock, minute } from '../clock.ts';
import { Fault } from '../fault.ts';
import type { WorkspaceId } from '../ids.ts';
import { answersKeptMs } from '../operations/prune-schedule.ts';
import type { Answer, SaveResponse } from '../store/answer.ts';
import type { Database, Queryable } from '../store/database.ts';
import { sql } from '../store/sql.ts';
import { keyFormat } from './schemas.ts';

const idempotencyHeader = 'idempotency-key';
/** No request lives this long: a claim that is older was left by a process that died. */
const abandonedAfterMs = 2 * minute;

/** What of a request decides whether it is the same. */
export interface RepeatableRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

interface Row {
  readonly fingerprint: Buffer;
  readonly claimedAt: Date;
  readonly status: number | null;
  readonly location: string | null;
  readonly body: unknown;
}

export class Idempotency {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #key: Buffer;

  constructor(db: Database, clock: Clock, key: Buffer) {
    this.#db = db;
    this.#clock = clock;
    this.#key = key;
  }

  /** Does the work unless it was done for this key before; gives back what was answered then. */
  async once<Body>(
    workspaceId: WorkspaceId,
    request: RepeatableRequest,
    work: (saveResponse: SaveResponse) => Promise<Answer<Body>>,
  ): Promise<Answer<unknown>> {
    const key = keyOf(request);
    if (key === undefined) return work(async (_tx, answer) => answer);
    const claim = v7();
    const earlier = await this.#claim(workspaceId, key, fingerprintOf(request, this.#key), claim);
    if (earlier) return earlier;
    let isSaved = false;
    try {
      const answer = await work((tx, made) => {
        isSaved = true;
        return this.#save(tx, workspaceId, key, claim, made);
      });
      if (!isSaved) await this.#release(workspaceId, key, claim);
      return answer;
    } catch (error) {
      await this.#release(workspaceId, key, claim);
      throw error;
    }
  }

  /** What failed, or only looked, changed nothing: the next try with this key is a first one. */
  async #release(workspaceId: WorkspaceId, key: string, claim: string): Promise<void> {
    await this.#db.run(sql`
      delete from idempotency_keys
      where workspace_id = ${workspaceId} and key = ${key} and claim = ${claim} and answered_at is null`);
  }

  async #claim(
    workspaceId: WorkspaceId,
    key: string,
    fingerprint: Buffer,
    claim: string,
  ): Promise<Answer<unknown> | undefined> {
    const now = this.#clock.now();
    const expired = new Date(now.getTime() - answersKeptMs);
    const abandoned = new Date(now.getTime() - abandonedAfterMs);
    const taken = await this.#db.run(sql`
      insert into idempotency_keys as k (workspace_id, key, fingerprint, claim, claimed_at)
      values (${workspaceId}, ${key}, ${fingerprint}, ${claim}, ${now})
      on conflict (workspace_id, key) do update
        set fingerprint = excluded.fingerprint, claim = excluded.claim, claimed_at = excluded.claimed_at,
            status = null, location = null, body = null, answered_at = null
        where k.claimed_at < ${expired} or (k.answered_at is null and k.claimed_at < ${abandoned})`);
    if (taken === 1) return undefined;
    const row = await this.#db.one<Row>(sql`
      select fingerprint, claimed_at as "claimedAt", status, location, body
      from idempotency_keys where workspace_id = ${workspaceId} and key = ${key}`);
    if (row && !row.fingerprint.equals(fingerprint)) throw mismatch();
    if (!row || row.status === null) throw inProgress();
    return { status: row.status, body: row.body, ...(row.location && { location: row.location }) };
  }

  async #save<Body>(
    tx: Queryable,
    workspaceId: WorkspaceId,
    key: string,
    claim: string,
    answer: Answer<Body>,
  ): Promise<Answer<Body>> {
    const saved = await tx.run(sql`
      update idempotency_keys
      set status = ${answer.status}, location = ${answer.location ?? null},
          body = ${JSON.stringify(answer.body ?? null)}, answered_at = ${this.#clock.now()}
      where workspace_id = ${workspaceId} and key = ${key} and claim = ${claim} and answered_at is null`);
    if (saved !== 1) throw inProgress();
    return answer;
  }
}

function keyOf(request: RepeatableRequest): string | undefined {
  const key = request.headers[idempotencyHeader];
  if (key === undefined) return undefined;
  const { pattern, maxLength } = keyFormat;
  if (typeof key === 'string' && new RegExp(pattern).test(key) && key.length <= maxLength) return key;
  const message = `must be 1 to ${maxLength} printable characters without spaces, a UUID for example`;
  throw new Fault('invalid_input', 'The Idempotency-Key is not valid.', {
    errors: [{ path: 'headers.Idempotency-Key', message }],
  });
}

/** With a key: bodies carry passwords, and who has a copy of the database must not be able to try some. */
function fingerprintOf(request: RepeatableRequest, key: Buffer): Buffer {
  const parts = [request.method, request.url, request.body ?? null];
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}

function mismatch(): Fault {
  return new Fault('idempotency_mismatch', 'This Idempotency-Key came with another request before.', {
    hint: 'Use a new key for a new request.',
  });
}

function inProgress(): Fault {
  return new Fault('idempotency_in_progress', 'The first request with this key is still being worked on.', {
    hint: 'Ask again in a moment.',
    retryAfterSeconds: 1,
  });
}
