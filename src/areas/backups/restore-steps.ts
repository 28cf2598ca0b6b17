/**
 * The steps of a restore or an import, each with its way back. The order of the way back matters: whoever undoes the
 * exchange has stopped the application before, and whoever starts it again finds the old data.
 */
import { after, day, hour, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { type BackupReplacedId, newId } from '../../ids.ts';
import type { Step, StepContext } from '../../operations/definition.ts';
import { assertLease } from '../../operations/operations.ts';
import { transientRetry, untilDone } from '../releases/until-back.ts';
import { putInService } from '../upkeep/start-environment.ts';
import { stopApp } from '../upkeep/stop-app.ts';
import { environmentOf, targetOf } from '../upkeep/upkeep.ts';
import type { BackupsContext } from './backups.ts';
import { openDestination } from './destinations.ts';
import { engineFor } from './engines/engines.ts';
import { untilStored } from './make-backup.ts';
import { findBackup, isDumping } from './queries.ts';
import { fetchPart } from './read-part.ts';
import { deleteReplacedBy, insertReplaced } from './restore-queries.ts';
import { incompatible, type RestoreInput, type RestoreWork, restoreWork } from './restores.ts';
import { dropUnfinishedSafety, makeSafetyBackup } from './safety-backup.ts';
import { removeFolder } from './server-files.ts';

type RestoreStep = Step<RestoreInput>;

/** Everything that could speak against it, before anything is touched: the dump is on the server, whole and opened. */
export function checkStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'check',
    deadlineMs: 24 * hour,
    retry: { ...untilStored, attempts: 200 },
    undo: (input, step) => untilDone(() => clearFiles(ctx, input, step), step.signal),
    run: async (input, step) => {
      const { workspaceId } = step;
      if (await isDumping(ctx.db, workspaceId, input.environmentId))
        throw new Fault('in_use', 'A backup of the environment is being made right now.');
      const { restore, host, replacements } = await restoreWork(ctx, input, step, { mustAnswer: true });
      if (restore.backupId === null) return undefined;
      const backup = await findBackup(ctx.db, workspaceId, restore.backupId);
      if (backup?.status !== 'succeeded') throw incompatible('The backup is not there any more.');
      const storage = await openDestination(ctx, workspaceId, backup.destinationId);
      for (const [done, { part }] of replacements.entries()) {
        if (!part) continue;
        step.progress(done / replacements.length, `fetching ${part.name}`);
        await fetchPart(ctx, host, storage, part, restore.id);
        step.log(`${part.name}: fetched, and its sum is right`);
      }
      return undefined;
    },
  };
}

export function safetyStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'safety',
    deadlineMs: 24 * hour,
    retry: untilStored,
    undo: (_input, step) => dropUnfinishedSafety(ctx, step),
    run: async (input, step) => {
      if (!input.safetyBackup) return undefined;
      const work = await restoreWork(ctx, input, step, { mustAnswer: true });
      return { backupId: await makeSafetyBackup(ctx, input, work, step) };
    },
  };
}

export function stopStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'stop',
    deadlineMs: 150 * minute,
    retry: transientRetry,
    undo: (input, step) => untilDone(() => putInService(ctx, input, step), step.signal),
    run: async (input, step) => {
      const environment = await environmentOf(ctx, input, step);
      await stopApp(ctx, await targetOf(ctx, environment, step), environment);
      return undefined;
    },
  };
}

export function loadStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'load',
    deadlineMs: 24 * hour,
    retry: transientRetry,
    undo: (input, step) => untilDone(() => discardBeside(ctx, input, step), step.signal),
    run: async (input, step) => {
      const { host, replacements } = await restoreWork(ctx, input, step, { mustAnswer: false });
      for (const { source, file, beside, begin, content } of replacements) {
        const progress = {
          log: (line: string) => step.log(line),
          fraction: (done: number) => step.progress(done, `loading ${source.name}`),
        };
        const wish = { beside, begin, content };
        await engineFor(source.kind).loadBeside(host, source.source, file, wish, progress);
      }
      return undefined;
    },
  };
}

/** All are loaded by now: what could take long or fail is behind us. */
export function swapStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'swap',
    deadlineMs: hour,
    retry: transientRetry,
    undo: (input, step) => untilDone(() => swapBack(ctx, input, step), step.signal),
    run: async (input, step) => {
      const work = await restoreWork(ctx, input, step, { mustAnswer: false });
      await remember(ctx, work, step);
      for (const { source, beside, before } of work.replacements) {
        await engineFor(source.kind).swap(work.host, source.source, { beside, before });
        step.log(`${source.name}: the new data is in place; the old one is kept as ${before}`);
      }
      return undefined;
    },
  };
}

/** Where the application does not become healthy with the new data, the old data comes back. */
export function startStep(ctx: BackupsContext): RestoreStep {
  const stop = stopStep(ctx);
  return {
    name: 'start',
    deadlineMs: 180 * minute,
    retry: transientRetry,
    undo: (input, step) =>
      untilDone(async () => {
        await stop.run(input, step);
      }, step.signal),
    run: async (input, step) => {
      await putInService(ctx, input, step);
      return undefined;
    },
  };
}

export function settleStep(ctx: BackupsContext): RestoreStep {
  return {
    name: 'settle',
    deadlineMs: 10 * minute,
    retry: transientRetry,
    isPostCommit: true,
    undo: { none: 'It is an afterthought.' },
    run: async (input, step) => {
      await clearFiles(ctx, input, step);
      return undefined;
    },
  };
}

/** Before the exchange: whoever comes after a crash knows what was put aside, and until when it is kept. */
async function remember(ctx: BackupsContext, work: RestoreWork, step: StepContext): Promise<void> {
  const { restore, environment, host, replacements } = work;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    for (const { place, source, before } of replacements) {
      const row = {
        id: newId<BackupReplacedId>(),
        environmentId: environment.id,
        serverId: host.placement.serverId,
        restoreId: restore.id,
        place,
        serviceId: source.serviceId,
        beforeName: before,
        volumeName: source.type === 'volume' ? source.name : null,
        discardAt: after(now, ctx.keepReplacedDays * day),
      };
      await insertReplaced(tx, step.workspaceId, row, now);
    }
  });
}

async function swapBack(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<void> {
  const { restore, host, replacements } = await restoreWork(ctx, input, step, { mustAnswer: false });
  for (const { source, beside, before } of replacements.toReversed())
    await engineFor(source.kind).swap(host, source.source, { beside: before, before: beside });
  await deleteReplacedBy(ctx.db, step.workspaceId, restore.id);
}

async function discardBeside(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<void> {
  const { host, replacements } = await restoreWork(ctx, input, step, { mustAnswer: false });
  for (const { source, beside } of replacements)
    await engineFor(source.kind).discard(host, source.source, beside);
}

async function clearFiles(ctx: BackupsContext, input: RestoreInput, step: StepContext): Promise<void> {
  const environment = await environmentOf(ctx, input, step);
  await removeFolder((await targetOf(ctx, environment, step)).dataHost, input.restoreId);
}
