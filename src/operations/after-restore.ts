/**
 * Operations in a state that was restored from a backup. What was under way then is long over on the servers, one way or
 * another: it is cancelled and undone, not carried out late. Servers have seen higher epochs of it since, so they are
 * raised far beyond any of those.
 */
import type { Queryable } from '../store/database.ts';
import { sql } from '../store/sql.ts';

const epochsBeyond = 1_000_000;

export function cancelUnfinished(tx: Queryable): Promise<number> {
  return tx.run(sql`
    update operations set lease_epoch = lease_epoch + ${epochsBeyond}, lease_owner = null, lease_until = null,
      cancel_requested_at = coalesce(cancel_requested_at, now()), wake_at = now()
    where finished_at is null`);
}
