import { after, type Clock, day } from '../../clock.ts';
import { pruneNotices } from '../../events/notices.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import { pruneDeliveries } from './delivery-queries.ts';

/** Every hour: removes notices, and deliveries with what receivers answered, once they have had their time. */
export function tidyNoticesSchedule(ctx: { db: Database; clock: Clock }, keepDays: number): Schedule {
  return {
    name: 'tidy-notices',
    cron: '23 * * * *',
    timezone: 'UTC',
    run: () => tidyNotices(ctx, keepDays),
  };
}

export async function tidyNotices(
  { db, clock }: { db: Database; clock: Clock },
  keepDays: number,
): Promise<void> {
  const before = after(clock.now(), -keepDays * day);
  await pruneDeliveries(db, before);
  await pruneNotices(db, before);
}
