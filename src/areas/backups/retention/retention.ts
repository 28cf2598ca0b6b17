/**
 * Which backups may be deleted. Pure. One goes only where both the count and the age allow it; the last good one and the
 * last verified one of each scope never go, nor a safety backup while its restore or import may still be regretted.
 */
import { day } from '../../../clock.ts';
import { type BackupStatus, type BackupTrigger, isSafetyBackup } from '../backups.ts';

export interface RetainedBackup {
  readonly id: string;
  /** What it is a backup of: one service, or with null all there was. */
  readonly serviceId: string | null;
  readonly trigger: BackupTrigger;
  readonly status: BackupStatus;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

export interface Retention {
  readonly keepLast: number;
  readonly keepDays: number;
}

export const minSafetyBackupMs = 7 * day;

export function expiredBackups<Backup extends RetainedBackup>(
  backups: readonly Backup[],
  { keepLast, keepDays }: Retention,
  now: Date,
): Backup[] {
  const isOlder = ({ createdAt }: Backup, ms: number) => now.getTime() - createdAt.getTime() > ms;
  const newestFirst = backups.toSorted(
    (one, other) => other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1),
  );
  const scopes = Map.groupBy(newestFirst, ({ serviceId }) => serviceId);
  return [...scopes.values()].flatMap((all) => {
    const old = all.filter((each) => isOlder(each, keepDays * day));
    const good = all.filter(({ status }) => status === 'succeeded');
    const lastVerified = good.find(({ verifiedAt }) => verifiedAt !== null);
    // The newest is the last good one, whatever the settings say.
    const kept = new Set([...good.slice(0, Math.max(1, keepLast)), lastVerified]);
    return old.filter(
      (each) =>
        each.status === 'failed' ||
        (each.status === 'succeeded' &&
          !kept.has(each) &&
          (!isSafetyBackup(each) || isOlder(each, minSafetyBackupMs))),
    );
  });
}
