/**
 * The steps of a restore or an import, each with its undo. The order of the undos matters: before the swap is undone, the
 * application is stopped, and when it is started again, the old data is live.
 */
import { after, day, hour, minute } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import { type BackupReplacedId, newId } from '../../../ids.ts';
import type { Step, StepContext } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import { environmentOf, targetOf } from '../../reconcile/reconcile.ts';
import { putInService } from '../../reconcile/start-environment.ts';
import { stopApp } from '../../reconcile/stop-app.ts';
import { retryUntilDone, transientRetry } from '../../releases/transient-retry.ts';
import { type BackupsContext, isSafetyBackup } from '../backups.ts';
import { openDestination } from '../destinations.ts';
import { engines } from '../engines/engines.ts';
import { removeFolder } from '../engines/server-files.ts';
import { storageRetry } from '../make/make-backup.ts';
import { fetchPart } from '../make/read-part.ts';
import { findBackup, listUnfinishedBackups } from '../queries.ts';
import { deleteReplacedBy, insertReplaced } from './restore-queries.ts';
import { incompatible, type RestoreInput, type RestoreWork, restoreWork } from './restore-work.ts';
import { makeSafetyBackup, removeUnfinishedSafetyBackup } from './safety-backup.ts';

type RestoreStep = Step<RestoreInput>;

/** Everything that could speak against it, before anything is touched: the dump is on the server, whole and decrypted. */
export function checkStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'check',
    deadlineMs: 24 * hour,
    retry: { ...storageRetry, attempts: 200 },
    undo: (input, step) => retryUntilDone(() => removeFiles(ctx, input, step), step.signal),
    run: async (input, step) => {
      const { workspaceId } = step;
      const unfinished = await listUnfinishedBackups(ctx.db, workspaceId, input.environmentId);
      // What reads from the live data right now must not see it swapped.
      if (unfinished.some((each) => each.status === 'dumping' && !isSafetyBackup(each)))
        throw new Fault('in_use', 'A backup of the environment is being made right now.');
      const { restore, host, replacements } = await restoreWork(ctx, input, step, true);
      if (restore.backupId === null) return;
      const backup = await findBackup(ctx.db, workspaceId, restore.backupId);
      if (backup?.status !== 'succeeded') throw incompatible('The backup does not exist any more.');
      const storage = await openDestination(ctx, workspaceId, backup.destinationId);
      for (const [done, { part }] of replacements.entries()) {
        if (!part) continue;
        step.progress(done / replacements.length, `fetching ${part.name}`);
        await fetchPart(ctx, host, storage, part, restore.id);
        step.log(`${part.name}: fetched, and its hash is right`);
      }
    },
  };
}

export function safetyStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'safety',
    deadlineMs: 24 * hour,
    retry: storageRetry,
    undo: (_input, step) => removeUnfinishedSafetyBackup(ctx, step),
    run: async (input, step) => {
      if (!input.safetyBackup) return undefined;
      const work = await restoreWork(ctx, input, step, true);
      return { backupId: await makeSafetyBackup(ctx, work, step) };
    },
  };
}

export function stopStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'stop',
    deadlineMs: 150 * minute,
    retry: transientRetry,
    undo: (input, step) => retryUntilDone(() => putInService(ctx, input, step), step.signal),
    run: (input, step) => stop(ctx, input, step),
  };
}

export function loadStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'load',
    deadlineMs: 24 * hour,
    retry: transientRetry,
    undo: (input, step) => retryUntilDone(() => discardStaging(ctx, input, step), step.signal),
    run: async (input, step) => {
      const { host, replacements } = await restoreWork(ctx, input, step);
      for (const { source, file, load } of replacements) {
        const progress = {
          log: (line: string) => step.log(line),
          fraction: (done: number) => step.progress(done, `loading ${source.name}`),
        };
        await engines[source.kind].loadStaging(host, source.source, file, load, progress);
      }
    },
  };
}

/** All are loaded by now: what could take long or fail is behind us. */
export function swapStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'swap',
    deadlineMs: hour,
    retry: transientRetry,
    undo: (input, step) => retryUntilDone(() => swapBack(ctx, input, step), step.signal),
    run: async (input, step) => {
      const work = await restoreWork(ctx, input, step);
      await recordReplaced(ctx, work, step);
      for (const { source, names } of work.replacements) {
        await engines[source.kind].swap(work.host, source.source, names);
        step.log(`${source.name}: the new data is live; the old data is kept as ${names.previous}`);
      }
    },
  };
}

/** Where the application does not become healthy with the new data, the old data comes back. */
export function startStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'start',
    deadlineMs: 180 * minute,
    retry: transientRetry,
    undo: (input, step) => retryUntilDone(() => stop(ctx, input, step), step.signal),
    run: async (input, step) => {
      await putInService(ctx, input, step);
    },
  };
}

export function settleStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'settle',
    deadlineMs: 10 * minute,
    retry: transientRetry,
    isPostCommit: true,
    undo: { none: 'Only files that nobody needs any more were removed.' },
    run: (input, step) => removeFiles(ctx, input, step),
  };
}

async function stop(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<undefined> {
  const environment = await environmentOf(ctx, input, step);
  await stopApp(ctx, await targetOf(ctx, environment, step), environment);
}

/** Before the swap, so that after a crash it is known what is kept under which name, and until when. */
async function recordReplaced(ctx: BackupsContext, work: RestoreWork, step: StepContext): Promise<void> {
  const { restore, environment, host, replacements } = work;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    for (const { position, source, names } of replacements)
      await insertReplaced(
        tx,
        step.workspaceId,
        {
          id: newId<BackupReplacedId>(),
          environmentId: environment.id,
          serverId: host.placement.serverId,
          restoreId: restore.id,
          position,
          serviceId: source.serviceId,
          copyName: names.previous,
          volumeName: source.type === 'volume' ? source.name : null,
          discardAt: after(now, ctx.keepReplacedDays * day),
        },
        now,
      );
  });
}

async function swapBack(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<void> {
  const { restore, host, replacements } = await restoreWork(ctx, input, step);
  for (const { source, names } of replacements.toReversed()) {
    const back = { staging: names.previous, previous: names.staging };
    await engines[source.kind].swap(host, source.source, back);
  }
  await deleteReplacedBy(ctx.db, step.workspaceId, restore.id);
}

async function discardStaging(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<void> {
  const { host, replacements } = await restoreWork(ctx, input, step);
  for (const { source, names } of replacements)
    await engines[source.kind].discard(host, source.source, names.staging);
}

async function removeFiles(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<undefined> {
  const environment = await environmentOf(ctx, input, step);
  await removeFolder((await targetOf(ctx, environment, step)).dataHost, input.restoreId);
}
