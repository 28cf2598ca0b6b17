/** A backup is asked for, by a person or by a schedule. What there is to dump is looked at when its turn comes. */
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type BackupDestinationId,
  type BackupId,
  type EnvironmentId,
  newId,
  type OperationId,
  type ServiceId,
  type WorkspaceId,
} from '../../ids.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment } from '../environments/environment-state.ts';
import { listedServices } from '../services/read-services.ts';
import { holdsData } from '../upkeep/holds-data.ts';
import { type BackupsContext, type BackupTrigger, backupKind, queueKeyOf, tellBackup } from './backups.ts';
import { configOf } from './config.ts';
import * as queries from './queries.ts';
import { readBackup, type ShownBackup } from './read-backups.ts';

export interface BackupWish {
  readonly environment: EnvironmentState;
  readonly trigger: BackupTrigger;
  readonly serviceId: ServiceId | null;
  readonly requestedBy: AccountId | null;
}

export function triggerBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  wish: Pick<BackupWish, 'serviceId' | 'requestedBy'>,
  saveResponse: SaveResponse,
): Promise<Answer<ShownBackup>> {
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    if (wish.serviceId !== null) await requireService(tx, workspaceId, environmentId, wish.serviceId);
    else if (!(await holdsData(tx, ctx, workspaceId, environment))) throw nothingToBackUp();
    const id = await requestBackup(tx, ctx, workspaceId, { ...wish, environment, trigger: 'manual' });
    const body = await readBackup(tx, workspaceId, environmentId, id);
    const location = `/api/v1/environments/${environmentId}/backups/${id}`;
    const answer = await saveResponse(tx, { status: 202, location, body });
    await tellBackup(tx, workspaceId, { backupId: id, environmentId, status: 'queued' });
    return answer;
  });
}

/** In the caller's transaction, in which the environment is locked. Whoever asked tells of it. */
export async function requestBackup(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  wish: BackupWish,
): Promise<BackupId> {
  const { environment, requestedBy } = wish;
  if (environment.serverId === null) throw noServer();
  const { verify, destinationId } = await configOf(tx, workspaceId, environment.id);
  const id = await insertBackup(tx, ctx, workspaceId, { ...wish, verify, destinationId, operationId: null });
  // Without its server: a backup takes none of the places that work on the server has.
  const operationId = await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: backupKind,
    input: { backupId: id, environmentId: environment.id },
    subject: { type: 'backup', id },
    queueKey: queueKeyOf(environment.serverId),
    ...(requestedBy !== null && { requestedBy }),
  });
  await queries.setOperation(tx, workspaceId, id, operationId);
  return id;
}

export async function insertBackup(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  wish: BackupWish & {
    readonly verify: boolean;
    readonly destinationId: BackupDestinationId | null;
    readonly operationId: OperationId | null;
  },
): Promise<BackupId> {
  const { environment, trigger, serviceId, requestedBy, verify, destinationId, operationId } = wish;
  const id = newId<BackupId>();
  const row = {
    id,
    environmentId: environment.id,
    environmentName: environment.name,
    serviceId,
    trigger,
    verify,
    destinationId,
    operationId,
    requestedBy,
  };
  await queries.insertBackup(tx, workspaceId, row, ctx.clock.now());
  return id;
}

async function requireService(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serviceId: ServiceId,
): Promise<void> {
  const services = await listedServices(db, workspaceId, environmentId);
  const found = services.find(({ id, removedAt }) => id === serviceId && removedAt === null);
  if (!found)
    throw new Fault('invalid_input', 'The environment has no such service.', {
      errors: [{ path: 'serviceId', message: 'is not a service of this environment' }],
    });
}

export function noServer(): Fault {
  return new Fault('server_not_linked', 'The environment stands on no server yet.', {
    hint: 'Link one with PATCH /environments/:id/server, and deploy.',
  });
}

function nothingToBackUp(): Fault {
  return new Fault('nothing_to_back_up', 'The environment has no database and no volume with data yet.', {
    hint: 'Add a service or a volume, and deploy.',
  });
}
