/** Requests a backup, by a person or by a schedule. What there is to dump is looked up when its turn comes. */
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type BackupId,
  type EnvironmentId,
  newId,
  type ServiceId,
  type WorkspaceId,
} from '../../ids.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment } from '../environments/environment-state.ts';
import { holdsData } from '../reconcile/holds-data.ts';
import { listedServices } from '../services/read-services.ts';
import {
  type BackupsContext,
  type BackupTrigger,
  backupKind,
  publishBackupUpdate,
  queueKeyOf,
} from './backups.ts';
import { backupConfigOf } from './config.ts';
import { insertBackup, setBackupOperation } from './queries.ts';
import { type BackupView, readBackup } from './read-backups.ts';

export interface BackupInput {
  readonly environment: EnvironmentState;
  readonly trigger: BackupTrigger;
  readonly serviceId: ServiceId | null;
  readonly requestedBy: AccountId | null;
}

export function triggerBackup(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  input: Pick<BackupInput, 'serviceId' | 'requestedBy'>,
  saveResponse: SaveResponse,
): Promise<Answer<BackupView>> {
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    if (input.serviceId !== null) await requireService(tx, workspaceId, environmentId, input.serviceId);
    else if (!(await holdsData(tx, ctx, workspaceId, environment))) throw nothingToBackUp();
    const id = await requestBackup(tx, ctx, workspaceId, { ...input, environment, trigger: 'manual' });
    const body = await readBackup(tx, workspaceId, environmentId, id);
    const location = `/api/v1/environments/${environmentId}/backups/${id}`;
    const answer = await saveResponse(tx, { status: 202, location, body });
    await publishBackupUpdate(tx, workspaceId, { backupId: id, environmentId, status: 'queued' });
    return answer;
  });
}

/** In the caller's transaction, in which the environment is locked. The caller publishes it. */
export async function requestBackup(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  { environment, trigger, serviceId, requestedBy }: BackupInput,
): Promise<BackupId> {
  if (environment.serverId === null) throw noServer();
  const { verify, destinationId } = await backupConfigOf(tx, workspaceId, environment.id);
  const id = newId<BackupId>();
  const subject = { id, environmentId: environment.id, environmentName: environment.name, serviceId };
  const row = { ...subject, trigger, verify, destinationId, operationId: null, requestedBy };
  await insertBackup(tx, workspaceId, row, ctx.clock.now());
  // Without its server: a backup takes none of the slots that work on the server has.
  const operationId = await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: backupKind,
    input: { backupId: id, environmentId: environment.id },
    subject: { type: 'backup', id },
    queueKey: queueKeyOf(environment.serverId),
    ...(requestedBy !== null && { requestedBy }),
  });
  await setBackupOperation(tx, workspaceId, id, operationId);
  return id;
}

async function requireService(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  serviceId: ServiceId,
): Promise<void> {
  const services = await listedServices(db, workspaceId, environmentId);
  if (services.some(({ id, removedAt }) => id === serviceId && removedAt === null)) return;
  throw new Fault('invalid_input', 'The environment has no such service.', {
    errors: [{ path: 'serviceId', message: 'is not a service of this environment' }],
  });
}

export function noServer(): Fault {
  return new Fault('server_not_linked', 'The environment has no server yet.', {
    hint: 'Link one with PATCH /environments/:id/server, and deploy.',
  });
}

function nothingToBackUp(): Fault {
  return new Fault('nothing_to_back_up', 'The environment has no database and no volume with data yet.', {
    hint: 'Add a service or a volume, and deploy.',
  });
}
