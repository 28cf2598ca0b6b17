/**
 * Takes away operations that ended long ago, with their journals. Not those of servers: they are few, started by hand,
 * and a hardening is undone by the id of its operation.
 */
import type { Database } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { sql } from '../store/sql.ts';
import type { PrunedOperation } from './definition.ts';
import type { OperationKinds } from './kinds.ts';

export function pruneOperations(db: Database, kinds: OperationKinds, before: Date): Promise<number> {
  return inBatches((from) =>
    db.transaction(async (tx) => {
      const gone = await tx.rows<PrunedOperation & { readonly finishedAt: Date }>(sql`
        delete from operations where ctid = any(array(
          select ctid from operations
          where finished_at >= ${from} and finished_at < ${before} and subject_type is distinct from 'server'
          order by finished_at limit 500))
        returning workspace_id as "workspaceId", id, kind, subject_id as "subjectId",
          finished_at as "finishedAt"`);
      await kinds.onPrune(tx, gone);
      const last = gone.reduce((newest, { finishedAt }) => (finishedAt > newest ? finishedAt : newest), from);
      return { count: gone.length, last };
    }),
  );
}
