import { after, type Clock, day } from '../../clock.ts';
import { pruneNotices } from '../../events/notices.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import { pruneDeliveries } from './delivery-queries.ts';

/** Every hour: deletes notices, and deliveries with what receivers answered, after their retention. */
export function pruneNotificationsSchedule(ctx: { db: Database; clock: Clock }, keepDays: number): Schedule {
  return {
    name: 'tidy-notices',
    cron: '23 * * * *',
    timezone: 'UTC',
    run: () => pruneNotifications(ctx, keepDays),
  };
}

export async function pruneNotifications(
  { db, clock }: { db: Database; clock: Clock },
  keepDays: number,
): Promise<void> {
  const before = after(clock.now(), -keepDays * day);
  await pruneDeliveries(db, before);
  await pruneNotices(db, before);
}
