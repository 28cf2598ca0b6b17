/** Data that was replaced is let go once its time is over. A service that is gone has taken it along. */
import { minute } from '../../clock.ts';
import type { Target } from '../../engine/engine.ts';
import { appVolume } from '../../engine/placement.ts';
import type { BackupReplacedId, EnvironmentId } from '../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { openTarget } from '../environments/open-target.ts';
import { placesOf } from '../environments/places.ts';
import { transientRetry } from '../releases/until-back.ts';
import { inspectServices } from '../services/inspect-services.ts';
import { type BackupsContext, discardKind } from './backups.ts';
import { engineFor } from './engines/engines.ts';
import { type DueReplaced, deleteReplaced, findReplaced, type ReplacedRow } from './restore-queries.ts';
import { type BackupSource, serviceSource, volumeSource } from './sources.ts';

interface Input {
  readonly replacedId: BackupReplacedId;
  readonly environmentId: EnvironmentId;
}

export async function enqueueDiscard(tx: Queryable, ctx: BackupsContext, due: DueReplaced): Promise<void> {
  const { workspaceId, id, environmentId, serverId } = due;
  await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: discardKind,
    input: { replacedId: id, environmentId },
    serverId,
    subject: { type: 'environment', id: environmentId },
    queueKey: environmentId,
  });
}

export function discardOperation(ctx: BackupsContext): OperationKind {
  return defineOperation<Input>({
    kind: discardKind,
    readInput: (stored) => {
      const { replacedId, environmentId } = Object(stored);
      if (typeof replacedId !== 'string' || typeof environmentId !== 'string')
        throw new Error('nothing to let go');
      return { replacedId: replacedId as BackupReplacedId, environmentId: environmentId as EnvironmentId };
    },
    steps: [
      {
        name: 'discard',
        deadlineMs: 60 * minute,
        retry: transientRetry,
        undo: { none: 'What was let go cannot be brought back; its time was over.' },
        run: async (input, step) => {
          await discard(ctx, input, step);
          return undefined;
        },
      },
    ],
  });
}

async function discard(ctx: BackupsContext, { replacedId }: Input, step: StepContext): Promise<void> {
  const { workspaceId } = step;
  const row = await findReplaced(ctx.db, workspaceId, replacedId);
  if (!row) return;
  const environment = await readEnvironmentState(ctx.db, workspaceId, row.environmentId);
  const places = await placesOf(ctx.db, workspaceId, row.environmentId);
  const place = places.find(({ serverId }) => serverId === row.serverId);
  if (environment && place) {
    const target = await openTarget(ctx.servers, place, step);
    const source = await sourceOf(ctx, target, row);
    if (source) await engineFor(source.kind).discard(target.dataHost, source.source, row.beforeName);
  }
  await deleteReplaced(ctx.db, workspaceId, replacedId);
}

async function sourceOf(
  ctx: BackupsContext,
  target: Target,
  { serviceId, volumeName }: ReplacedRow,
): Promise<BackupSource | undefined> {
  if (volumeName !== null) return volumeSource(volumeName, appVolume(target.placement, volumeName));
  const seen = await inspectServices(ctx, target);
  const found = seen.services.find(({ service }) => service.id === serviceId);
  return found && serviceSource(found);
}
