/** What happens to backups by itself, every minute, in whichever instance comes first. */
import { after, day, hour, minute } from '../../clock.ts';
import { raiseNotice } from '../../events/notices.ts';
import { errorText, Fault } from '../../fault.ts';
import type { BackupId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, tryLockEnvironment } from '../environments/environment-state.ts';
import { connectTo } from '../servers/connection/connect-server.ts';
import { holdsData } from '../upkeep/holds-data.ts';
import { type BackupsContext, tellBackup } from './backups.ts';
import { type DueConfig, findDue, lockDueConfig, setNextRun } from './config-queries.ts';
import * as deletion from './deletion-queries.ts';
import { enqueueDiscard } from './discard-replaced.ts';
import { removeObjects } from './make-parts.ts';
import * as queries from './queries.ts';
import { requestBackup } from './request-backup.ts';
import { pruneRestores, setUploadCleared, takeAbandoned, takeDueReplaced } from './restore-queries.ts';
import { jitterSeconds, nextRun, nextTime, runsBetween } from './schedule-times.ts';
import { removeFolder } from './server-files.ts';

const mostAtOnce = 100;
/** A run that is begun later than this was missed: the service was not there. */
const lateMs = 10 * minute;
/** One that was missed by more than this is not made up for. */
const madeUpWithinMs = day;
const abandonedAfterMs = 5 * minute;
const againAfterMs = hour;
const clearWithinMs = 60_000;
const keptMs = 90 * day;

export function backupSchedule(ctx: BackupsContext): Schedule {
  return {
    name: 'backups',
    cron: '* * * * *',
    timezone: 'UTC',
    run: async () => {
      await startDueBackups(ctx);
      await clearUp(ctx);
    },
  };
}

export async function startDueBackups(ctx: BackupsContext): Promise<void> {
  for (let count = 0; count < mostAtOnce; count += 1) {
    const found = await findDue(ctx.db, ctx.clock.now());
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
  const upcoming = nextRun(due, environmentId, now);
  const lateBy = now.getTime() - due.nextRunAt.getTime();
  const isOverlapping = await queries.hasUnfinished(tx, workspaceId, environmentId, 'schedule');
  // Nobody writes to a stopped one: the backup before it is as good.
  const isRunning = environment.serverId !== null && environment.wanted === 'running';
  const hasData = isRunning && (await holdsData(tx, ctx, workspaceId, environment));
  // One that comes soon anyway makes up for what was missed.
  const isMadeUp =
    lateBy <= lateMs || (lateBy <= madeUpWithinMs && upcoming.getTime() - now.getTime() > lateMs);
  const isMade = hasData && !isOverlapping && isMadeUp;
  await setNextRun(tx, workspaceId, environmentId, { nextRunAt: upcoming, ranAt: isMade ? now : null });
  const backupId = isMade
    ? await requestBackup(tx, ctx, workspaceId, {
        environment,
        trigger: 'schedule',
        serviceId: null,
        requestedBy: null,
      })
    : undefined;
  if (hasData && (isOverlapping || lateBy > lateMs))
    await tellMissed(tx, due, environment, { now, cause: isOverlapping ? 'overlap' : 'late', isMade });
  if (backupId !== undefined)
    await tellBackup(tx, workspaceId, { backupId, environmentId, status: 'queued' });
}

async function tellMissed(
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
  const plannedAt = after(nextRunAt, -jitterSeconds(environmentId) * 1_000);
  const missed = 1 + runsBetween(due, plannedAt, now);
  const why =
    cause === 'overlap'
      ? 'The one before had not ended yet.'
      : `The service was not there at ${plannedAt.toISOString()}.`;
  const then = isMade ? ' One was started now instead.' : '';
  await raiseNotice(tx, {
    workspaceId,
    kind: 'backup_missed',
    projectId,
    environmentId,
    key: `backup_missed:${environmentId}:${plannedAt.toISOString()}`,
    subject: { type: 'environment', id: environmentId },
    data: {
      environmentName: name,
      cause,
      missed,
      isMadeUp: isMade,
      plannedAt: plannedAt.toISOString(),
      nextAt: nextTime(due, now).toISOString(),
      reason: `A planned backup was not made. ${why}${then}`,
    },
  });
}

export async function clearUp(ctx: BackupsContext): Promise<void> {
  const now = ctx.clock.now();
  const again = after(now, againAfterMs);
  await ctx.db.transaction(async (tx) => {
    for (const due of await takeDueReplaced(tx, now, again, mostAtOnce)) await enqueueDiscard(tx, ctx, due);
  });
  for (const { workspaceId, id } of await deletion.takeDueDeletions(ctx.db, now, again, mostAtOnce))
    await attempt(ctx, `the backup ${id}`, async () => {
      await removeFrom(ctx, workspaceId, id);
      await deletion.deleteBackup(ctx.db, workspaceId, id);
    });
  for (const { workspaceId, id } of await deletion.takeDueClearings(ctx.db, now, again, mostAtOnce))
    await attempt(ctx, `what is left of the backup ${id}`, async () => {
      await removeFrom(ctx, workspaceId, id);
      await deletion.setCleared(ctx.db, workspaceId, id);
    });
  const times = { now, before: after(now, -abandonedAfterMs), again };
  for (const { workspaceId, id, serverId } of await takeAbandoned(ctx.db, times, mostAtOnce))
    await attempt(ctx, `the upload ${id}`, async () => {
      if (serverId !== null) await removeUpload(ctx, workspaceId, serverId, id);
      await setUploadCleared(ctx.db, workspaceId, id);
    });
  await pruneRestores(ctx.db, after(now, -keptMs));
  await deletion.deleteUnusedDestinations(ctx.db, after(now, -day));
}

async function removeUpload(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  id: string,
): Promise<void> {
  try {
    const { remote } = await connectTo(ctx.servers, workspaceId, serverId);
    await removeFolder({ remote, signal: AbortSignal.timeout(clearWithinMs) }, id);
  } catch (error) {
    // A server that was taken away took the file with it.
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
  }
}

async function removeFrom(ctx: BackupsContext, workspaceId: WorkspaceId, id: BackupId): Promise<void> {
  const backup = await queries.findBackup(ctx.db, workspaceId, id);
  const signal = AbortSignal.timeout(clearWithinMs);
  if (backup) await removeObjects(ctx, backup, { workspaceId, signal });
}

/** What cannot be cleared away now is tried again in an hour; the others need not wait for it. */
async function attempt(ctx: BackupsContext, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof Fault || (error instanceof Error && error.name === 'TimeoutError');
    if (!isExpected) throw error;
    ctx.log.warn({ reason: errorText(error) }, `${what} could not be cleared away, trying again later`);
  }
}
