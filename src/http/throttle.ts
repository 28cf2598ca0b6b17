/**
 * Throttling. Counts requests per subject in windows of a minute, the last window fading into the present one.
 * Every instance counts for itself and brings its counts together with the others' through PostgreSQL: once
 * a second in one statement for ordinary limits, before the answer for strict ones (all that wait share one).
 */
import type { Logger } from 'pino';
import { type Clock, second } from '../clock.ts';
import { errorText } from '../fault.ts';
import type { Database } from '../store/database.ts';
import { sql } from '../store/sql.ts';

export interface Policy {
  readonly name: string;
  readonly limit: number;
  /** Strict limits guard secrets that can be guessed: they hold exactly, across instances and restarts. */
  readonly strict: boolean;
}

export interface Verdict {
  readonly policy: Policy;
  readonly allowed: boolean;
  readonly remaining: number;
  /** Until there is room again (if there is none), or until the window ends. */
  readonly resetSeconds: number;
}

interface Count {
  bucket: number;
  /** All instances' requests in this bucket, as last heard, and ours that were not told yet. */
  shared: number;
  untold: number;
  /** Ours that were told and then refused, because others were first: to be taken back. */
  back: number;
  /** How many of ours were asked and told, and up to which one they were let through. */
  asked: number;
  told: number;
  allowed: number;
  limit: number;
  /** All instances' requests in the bucket before. */
  before: number;
}

export const windowSeconds = 60;
const windowMs = windowSeconds * second;
const tellEveryMs = second;
const mostSubjects = 200_000;

export class Throttle {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #counts = new Map<string, Count>();
  readonly #untold = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #tidiedBucket = 0;

  constructor(db: Database, clock: Clock, log: Logger) {
    this.#db = db;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => this.#tellInBackground(), tellEveryMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#telling?.catch(() => undefined); // whoever waited for it was told
  }

  /** Counts a request of this subject and says whether it may pass. Refused ones are not counted. */
  hit(policy: Policy, subject: string): Verdict | Promise<Verdict> {
    const key = `${policy.name}:${subject}`;
    const count = this.#countOf(key);
    if (this.#used(count) + 1 > policy.limit) return this.#verdict(policy, count, false);
    count.limit = policy.strict ? policy.limit : Number.POSITIVE_INFINITY;
    count.untold += 1;
    count.asked += 1;
    this.#untold.add(key);
    if (!policy.strict) return this.#verdict(policy, count, true);
    const { bucket, asked: number } = count;
    return this.#tellNow().then(() => {
      // The minute changed while we asked: it was not counted in the new one.
      if (bucket !== this.#bucket() || bucket !== count.bucket) return this.hit(policy, subject);
      return this.#verdict(policy, count, number <= count.allowed);
    });
  }

  #countOf(key: string): Count {
    const bucket = this.#bucket();
    let count = this.#counts.get(key);
    if (!count) {
      if (this.#counts.size >= mostSubjects) this.#counts.clear();
      count = { bucket, shared: 0, untold: 0, back: 0, asked: 0, told: 0, allowed: 0, limit: 0, before: 0 };
      this.#counts.set(key, count);
    }
    if (count.bucket !== bucket) {
      count.before = count.bucket === bucket - 1 ? count.shared + count.untold - count.back : 0;
      Object.assign(count, { shared: 0, untold: 0, back: 0, asked: 0, told: 0, allowed: 0 });
      count.bucket = bucket;
    }
    return count;
  }

  #bucket(): number {
    return Math.floor(this.#clock.now().getTime() / windowMs);
  }

  /** How much of the present window is left, from 1 to 0. */
  #left(): number {
    return 1 - (this.#clock.now().getTime() % windowMs) / windowMs;
  }

  #used(count: Count): number {
    return count.before * this.#left() + count.shared + count.untold - count.back;
  }

  #verdict(policy: Policy, count: Count, allowed: boolean): Verdict {
    const left = this.#left();
    const remaining = allowed ? Math.max(0, Math.floor(policy.limit - this.#used(count))) : 0;
    return {
      policy,
      allowed,
      remaining,
      resetSeconds: Math.max(1, Math.ceil(this.#wait(policy, count, allowed, left))),
    };
  }

  #wait(policy: Policy, count: Count, allowed: boolean, left: number): number {
    const windowLeft = left * windowSeconds;
    if (allowed) return windowLeft;
    const present = count.shared + count.untold - count.back;
    const most = policy.limit - 1; // what may be used for one more to fit
    // Room comes from the last window fading, if the present one alone is not full; else from the present fading.
    if (present <= most) return windowLeft - ((most - present) / count.before) * windowSeconds;
    return windowLeft + (1 - most / present) * windowSeconds;
  }

  #tellInBackground(): void {
    if (this.#untold.size === 0 || this.#telling) return;
    this.#tellNow().catch((error) => {
      this.#log.warn({ reason: errorText(error) }, 'could not share request counts, trying again');
    });
  }

  /** One statement at a time. Whoever comes while one is under way shares the next. */
  #tellNow(): Promise<void> {
    if (!this.#telling) {
      this.#telling = this.#tell().finally(() => {
        this.#telling = undefined;
      });
      return this.#telling;
    }
    this.#queued ??= this.#telling
      .catch(() => undefined) // told to those who waited for that one
      .then(() => {
        this.#queued = undefined;
        return this.#tellNow();
      });
    return this.#queued;
  }

  async #tell(): Promise<void> {
    const bucket = this.#bucket();
    const news = [...this.#untold].flatMap((key) => {
      const count = this.#counts.get(key);
      if (!count || count.bucket !== bucket || (count.untold === 0 && count.back === 0)) return [];
      return [{ key, count, told: count.untold - count.back, fresh: count.untold, back: count.back }];
    });
    this.#untold.clear();
    if (news.length === 0) return;
    try {
      const rows = await shareCounts(this.#db, bucket, news);
      for (const [index, { key, count, fresh, back }] of news.entries()) {
        const row = rows[index];
        if (!row || count.bucket !== bucket) continue;
        count.shared = row.shared;
        count.before = Math.max(count.before, row.before);
        count.untold -= fresh;
        count.back -= back;
        const over = Math.ceil(count.shared + count.before * this.#left() - count.limit);
        const refused = Math.min(Math.max(0, over), fresh);
        count.told += fresh;
        count.allowed = count.told - refused;
        count.back += refused;
        if (refused > 0) this.#untold.add(key);
      }
    } catch (error) {
      for (const { key } of news) this.#untold.add(key);
      throw error;
    }
    await this.#tidy(bucket);
  }

  async #tidy(bucket: number): Promise<void> {
    if (this.#tidiedBucket === bucket) return;
    this.#tidiedBucket = bucket;
    for (const [key, count] of this.#counts) if (count.bucket < bucket - 1) this.#counts.delete(key);
    await this.#db.run(sql`delete from request_counts where bucket < ${bucket - 1}`);
  }
}

async function shareCounts(db: Database, bucket: number, news: { key: string; told: number }[]) {
  const keys = news.map((each) => each.key);
  const told = news.map((each) => each.told);
  const rows = await db.rows<{ key: string; shared: number; before: number }>(sql`
    with told as (
      insert into request_counts as c (key, bucket, count)
      select key, ${bucket}::bigint, count from unnest(${keys}::text[], ${told}::int[]) as news (key, count)
      order by key
      on conflict (key, bucket) do update set count = c.count + excluded.count
      returning key, count
    )
    select told.key, told.count as shared, coalesce(earlier.count, 0) as before
    from told left join request_counts earlier on earlier.key = told.key and earlier.bucket = ${bucket - 1}::bigint`);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.map((key) => byKey.get(key));
}
