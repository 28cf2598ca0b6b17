/** Discards data that was replaced once its time is over. A service that is gone has taken it along. */
import { hour } from '../../../clock.ts';
import type { Target } from '../../../engine/engine.ts';
import { appVolume } from '../../../engine/placement.ts';
import type { BackupReplacedId, EnvironmentId } from '../../../ids.ts';
import { defineOperation, type OperationKind, type StepContext } from '../../../operations/definition.ts';
import { enqueueOperation } from '../../../operations/operations.ts';
import type { Queryable } from '../../../store/database.ts';
import { readEnvironmentState } from '../../environments/environment-state.ts';
import { openTarget } from '../../environments/placement/open-target.ts';
import { placementsOf } from '../../environments/placement/placements.ts';
import { transientRetry } from '../../releases/transient-retry.ts';
import { inspectServices } from '../../services/inspect-services.ts';
import { type BackupsContext, discardKind } from '../backups.ts';
import { engines } from '../engines/engines.ts';
import { type BackupSource, serviceSource, volumeSource } from '../make/sources.ts';
import { type DueReplaced, deleteReplaced, findReplaced, type ReplacedRow } from './restore-queries.ts';

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
        throw new Error('the input names no replaced data');
      return { replacedId: replacedId as BackupReplacedId, environmentId: environmentId as EnvironmentId };
    },
    steps: [
      {
        name: 'discard',
        deadlineMs: hour,
        retry: transientRetry,
        undo: { none: 'What was discarded cannot be brought back; its time was over.' },
        run: (input, step) => discard(ctx, input, step),
      },
    ],
  });
}

async function discard(ctx: BackupsContext, { replacedId }: Input, step: StepContext): Promise<undefined> {
  const { workspaceId } = step;
  const row = await findReplaced(ctx.db, workspaceId, replacedId);
  if (!row) return;
  const environment = await readEnvironmentState(ctx.db, workspaceId, row.environmentId);
  const places = await placementsOf(ctx.db, workspaceId, row.environmentId);
  const place = places.find(({ serverId }) => serverId === row.serverId);
  if (environment && place) {
    const target = await openTarget(ctx.servers, place, step);
    const source = await sourceOf(ctx, target, row);
    if (source) await engines[source.kind].discard(target.dataHost, source.source, row.copyName);
  }
  await deleteReplaced(ctx.db, workspaceId, replacedId);
}

async function sourceOf(
  ctx: BackupsContext,
  target: Target,
  { serviceId, volumeName }: ReplacedRow,
): Promise<BackupSource | undefined> {
  if (volumeName !== null) return volumeSource(volumeName, appVolume(target.placement, volumeName));
  const { services } = await inspectServices(ctx, target);
  const found = services.find(({ service }) => service.id === serviceId);
  return found && serviceSource(found);
}
