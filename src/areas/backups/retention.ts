/**
 * Which backups may go. Pure. One goes only where both the count and the age allow it; the last good one and the last
 * verified one of each scope never go, nor what was made before a restore or an import while that may still be regretted.
 */
import { day } from '../../clock.ts';
import type { BackupStatus, BackupTrigger } from './backups.ts';

export interface RetainedBackup {
  readonly id: string;
  /** What it is a backup of: one service, or with null all there was. */
  readonly serviceId: string | null;
  readonly trigger: BackupTrigger;
  readonly status: BackupStatus;
  readonly isVerified: boolean;
  readonly createdAt: Date;
}

export interface Retention {
  readonly keepLast: number;
  readonly keepDays: number;
}

export const regretMs = 7 * day;

export function expiredBackups(
  backups: readonly RetainedBackup[],
  { keepLast, keepDays }: Retention,
  now: Date,
): string[] {
  const isOld = ({ createdAt }: RetainedBackup, ms: number) => now.getTime() - createdAt.getTime() > ms;
  const scopes = Map.groupBy(newestFirst(backups), ({ serviceId }) => serviceId);
  return [...scopes.values()].flatMap((all) => {
    const good = all.filter(({ status }) => status === 'succeeded');
    const failed = all.filter((each) => each.status === 'failed' && isOld(each, keepDays * day));
    const lastVerified = good.find(({ isVerified }) => isVerified);
    const beyond = good.filter((each, index) => {
      // The newest is the last good one, whatever the settings say.
      if (index < Math.max(1, keepLast) || each === lastVerified) return false;
      if (!isOld(each, keepDays * day)) return false;
      const isSafety = each.trigger === 'pre_restore' || each.trigger === 'pre_import';
      return !isSafety || isOld(each, regretMs);
    });
    return [...beyond, ...failed].map(({ id }) => id);
  });
}

function newestFirst(backups: readonly RetainedBackup[]): RetainedBackup[] {
  return backups.toSorted(
    (one, other) => other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1),
  );
}
