/** Deletes events, operations, audit entries and stored answers that are older than the settings retain. */
import { day, hour } from '../clock.ts';
import { pruneAudit } from '../events/audit.ts';
import { pruneEvents } from '../events/events.ts';
import type { Database } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { sql } from '../store/sql.ts';
import type { PrunedOperation } from './definition.ts';
import type { OperationKinds } from './kinds.ts';
import type { Schedule } from './queue.ts';

/** For how long a request that is sent again gets the answer to the first one. */
export const answersKeptMs = 24 * hour;

export interface RetentionDays {
  readonly eventDays: number;
  readonly operationDays: number;
  readonly auditDays: number;
}

/** Every hour, once in the whole installation. */
export function pruneSchedule(db: Database, kinds: OperationKinds, retention: RetentionDays): Schedule {
  return {
    name: 'prune-events',
    cron: '17 * * * *',
    timezone: 'UTC',
    run: async () => {
      const now = Date.now();
      await pruneEvents(db, new Date(now - retention.eventDays * day));
      await pruneOperations(db, kinds, new Date(now - retention.operationDays * day));
      await pruneAudit(db, new Date(now - retention.auditDays * day));
      await pruneAnswers(db, new Date(now - answersKeptMs));
    },
  };
}

/**
 * Operations that ended long ago, with their journals. Not those of servers: they are few, started by hand, and a
 * hardening is undone by the id of its operation.
 */
export function pruneOperations(db: Database, kinds: OperationKinds, before: Date): Promise<number> {
  return inBatches((from) =>
    db.transaction(async (tx) => {
      const pruned = await tx.rows<PrunedOperation & { readonly finishedAt: Date }>(sql`
        delete from operations where ctid = any(array(
          select ctid from operations
          where finished_at >= ${from} and finished_at < ${before} and subject_type is distinct from 'server'
          order by finished_at limit 500))
        returning workspace_id as "workspaceId", id, kind, subject_id as "subjectId",
          finished_at as "finishedAt"`);
      await kinds.onPrune(tx, pruned);
      const last = pruned.reduce(
        (newest, { finishedAt }) => (finishedAt > newest ? finishedAt : newest),
        from,
      );
      return { count: pruned.length, last };
    }),
  );
}

function pruneAnswers(db: Database, before: Date): Promise<number> {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from idempotency_keys where ctid = any(array(
        select ctid from idempotency_keys where claimed_at < ${before} order by claimed_at limit 5000))`),
  }));
}
