/** Starts the backups that are due by schedule, every minute, in whichever instance comes first. */
import { after, day, minute } from '../../../clock.ts';
import { raiseNotice } from '../../../events/notices.ts';
import type { Schedule } from '../../../operations/queue.ts';
import type { Queryable } from '../../../store/database.ts';
import { type EnvironmentState, tryLockEnvironment } from '../../environments/environment-state.ts';
import { holdsData } from '../../reconcile/holds-data.ts';
import { type BackupsContext, publishBackupUpdate } from '../backups.ts';
import { listUnfinishedBackups } from '../queries.ts';
import { requestBackup } from '../request-backup.ts';
import { cleanUp } from './clean-up.ts';
import { type DueConfig, findDueConfig, lockDueConfig, setNextRun } from './config-queries.ts';
import { jitterSeconds, nextRun, nextTime, runsBetween } from './schedule-times.ts';

const maxAtOnce = 100;
/** A run that is later than this was missed: the service was not running. */
const lateMs = 10 * minute;
/** One that was missed by more than this is not made up for. */
const catchUpWithinMs = day;

export function backupSchedule(ctx: BackupsContext): Schedule {
  return {
    name: 'backups',
    cron: '* * * * *',
    timezone: 'UTC',
    run: async () => {
      await startDueBackups(ctx);
      await cleanUp(ctx);
    },
  };
}

export async function startDueBackups(ctx: BackupsContext): Promise<void> {
  for (let count = 0; count < maxAtOnce; count += 1) {
    const found = await findDueConfig(ctx.db, ctx.clock.now());
    if (!found) return;
    await ctx.db.transaction((tx) => startDue(tx, ctx, found));
  }
}

async function startDue(
  tx: Queryable,
  ctx: BackupsContext,
  found: Pick<DueConfig, 'workspaceId' | 'environmentId'>,
): Promise<void> {
  const now = ctx.clock.now();
  const { workspaceId, environmentId } = found;
  const environment = await tryLockEnvironment(tx, workspaceId, environmentId);
  const due = environment && (await lockDueConfig(tx, found, now));
  if (!due) return;
  const nextRunAt = nextRun(due, environmentId, now);
  const lateBy = now.getTime() - due.nextRunAt.getTime();
  const unfinished = await listUnfinishedBackups(tx, workspaceId, environmentId);
  const isOverlapping = unfinished.some(({ trigger }) => trigger === 'schedule');
  // Nobody writes to a stopped one: the backup before it is as good.
  const isRunning = environment.serverId !== null && environment.wanted === 'running';
  const hasData = isRunning && (await holdsData(tx, ctx, workspaceId, environment));
  // One that comes soon anyway makes up for what was missed.
  const isInTime =
    lateBy <= lateMs || (lateBy <= catchUpWithinMs && nextRunAt.getTime() - now.getTime() > lateMs);
  const isMade = hasData && !isOverlapping && isInTime;
  await setNextRun(tx, workspaceId, environmentId, { nextRunAt, ranAt: isMade ? now : null });
  const input = { environment, trigger: 'schedule', serviceId: null, requestedBy: null } as const;
  const backupId = isMade ? await requestBackup(tx, ctx, workspaceId, input) : undefined;
  if (hasData && (isOverlapping || lateBy > lateMs))
    await noticeMissed(tx, due, environment, { now, cause: isOverlapping ? 'overlap' : 'late', isMade });
  if (backupId !== undefined)
    await publishBackupUpdate(tx, workspaceId, { backupId, environmentId, status: 'queued' });
}

async function noticeMissed(
  tx: Queryable,
  due: DueConfig,
  { projectId, name }: EnvironmentState,
  {
    now,
    cause,
    isMade,
  }: { readonly now: Date; readonly cause: 'overlap' | 'late'; readonly isMade: boolean },
): Promise<void> {
  const { workspaceId, environmentId, nextRunAt } = due;
  const planned = after(nextRunAt, -jitterSeconds(environmentId) * 1_000);
  const plannedAt = planned.toISOString();
  const why =
    cause === 'overlap'
      ? 'The one before had not ended yet.'
      : `The service was not running at ${plannedAt}.`;
  const then = isMade ? ' One was started now instead.' : '';
  await raiseNotice(tx, {
    workspaceId,
    kind: 'backup_missed',
    projectId,
    environmentId,
    key: `backup_missed:${environmentId}:${plannedAt}`,
    subject: { type: 'environment', id: environmentId },
    data: {
      environmentName: name,
      cause,
      missed: 1 + runsBetween(due, planned, now),
      isMadeUp: isMade,
      plannedAt,
      nextAt: nextTime(due, now).toISOString(),
      reason: `A scheduled backup was not made. ${why}${then}`,
    },
  });
}
