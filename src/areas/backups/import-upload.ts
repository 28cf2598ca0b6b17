/**
 * Imports a file: the upload is streamed to the server while it arrives, and is then loaded into a copy of the database,
 * which is swapped with the live one where all of it went well. An upload that breaks off leaves nothing.
 */
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type BackupRestoreId,
  type EnvironmentId,
  newId,
  type ServerId,
  type ServiceId,
  type WorkspaceId,
} from '../../ids.ts';
import { defineOperation, type OperationKind } from '../../operations/definition.ts';
import { enqueueOperation } from '../../operations/operations.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { answerStarted, type StartedOperation } from '../operations/operations.ts';
import { connectTo } from '../servers/connection/connect-server.ts';
import { type ListedService, listedServices } from '../services/read-services.ts';
import { type BackupsContext, importKind } from './backups.ts';
import { type FencedRemote, prepareFolder, removeFolder, writeServerFile } from './engines/server-files.ts';
import { clearOperations } from './queries.ts';
import { noServer } from './request-backup.ts';
import * as queries from './restore/restore-queries.ts';
import * as steps from './restore/restore-steps.ts';
import { followRestore, type RestoreInput, readRestoreInput } from './restore/restore-work.ts';

const heartbeatMs = 30_000;
const removeTimeoutMs = 30_000;

export interface ImportTarget {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
}

export interface Upload {
  /** Named by a field before the file, or by the query. */
  readonly serviceId: ServiceId | null;
  readonly content: AsyncIterable<Buffer>;
  /** Of the request: more than the file itself, or 0 where it is unknown. */
  readonly announcedBytes: number;
}

/** Before a byte of the body is read. */
export async function importTarget(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<ImportTarget> {
  const environment = await readEnvironmentState(ctx.db, workspaceId, environmentId);
  if (!environment) throw environmentNotFound();
  if (environment.serverId === null) throw noServer();
  return { workspaceId, environmentId, serverId: environment.serverId };
}

export async function importUpload(
  ctx: BackupsContext,
  target: ImportTarget,
  { serviceId: asked, content, announcedBytes }: Upload,
  { requestedBy, signal }: { readonly requestedBy: AccountId; readonly signal: AbortSignal },
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const { workspaceId, environmentId, serverId } = target;
  const service = chosen(await listedServices(ctx.db, workspaceId, environmentId), asked);
  const id = newId<BackupRestoreId>();
  const { remote } = await connectTo(ctx.servers, workspaceId, serverId);
  const source = { source: 'upload', status: 'uploading', backupId: null, serviceId: service.id } as const;
  const row = { id, environmentId, serverId, ...source };
  await queries.insertRestore(ctx.db, workspaceId, row, ctx.clock.now());
  const heartbeat = setInterval(() => {
    queries
      .setHeartbeat(ctx.db, workspaceId, id, ctx.clock.now())
      .catch((error: unknown) => ctx.log.warn({ restoreId: id, err: error }, 'an upload missed a heartbeat'));
  }, heartbeatMs);
  try {
    await prepareFolder({ remote, signal }, id, announcedBytes);
    const { bytes } = await writeServerFile({ remote, signal }, id, 'upload', limited(ctx, content));
    if (bytes === 0) throw emptyFile();
    return await ctx.db.transaction(async (tx) => {
      if (!(await queries.setUploaded(tx, workspaceId, id, bytes)))
        throw new Fault('request_timeout', 'The upload was abandoned because nothing arrived for too long.');
      const operationId = await enqueueOperation(tx, ctx.queue, {
        workspaceId,
        kind: importKind,
        input: { restoreId: id, environmentId },
        serverId,
        subject: { type: 'environment', id: environmentId },
        queueKey: environmentId,
        requestedBy,
      });
      await queries.setRestoreOperation(tx, workspaceId, id, operationId);
      return answerStarted(tx, workspaceId, operationId, saveResponse);
    });
  } catch (error) {
    await removeUpload(ctx, { remote, signal: AbortSignal.timeout(removeTimeoutMs) }, workspaceId, id);
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

/** Where the server cannot be reached now, the row stays, and the schedule removes the file later. */
async function removeUpload(
  ctx: BackupsContext,
  work: FencedRemote,
  workspaceId: WorkspaceId,
  id: BackupRestoreId,
): Promise<void> {
  try {
    await removeFolder(work, id);
    await queries.setUploadRemoved(ctx.db, workspaceId, id);
  } catch (error) {
    ctx.log.warn({ restoreId: id, err: error }, 'an upload could not be removed, it will be later');
  }
}

async function* limited(
  { importBytes }: BackupsContext,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > importBytes) throw uploadTooLarge(importBytes);
    yield chunk;
  }
}

export function uploadTooLarge(importBytes: number): Fault {
  const message = `The file is larger than ${Math.floor(importBytes / 1024 / 1024)} MB.`;
  return new Fault('payload_too_large', message, {
    hint: 'Whoever runs the service can allow more with SLIPWAY_LIMIT_IMPORT_MB. A compressed file is smaller.',
  });
}

function emptyFile(): Fault {
  return new Fault('invalid_input', 'The file is empty.', {
    errors: [{ path: 'file', message: 'must not be empty' }],
  });
}

/** The service that was named, or the only one that there is. */
function chosen(services: readonly ListedService[], asked: ServiceId | null): ListedService {
  const active = services.filter(({ removedAt }) => removedAt === null);
  const found = asked === null ? active : active.filter(({ id }) => id === asked);
  const [only] = found;
  if (only && found.length === 1) return only;
  const message =
    asked !== null
      ? 'is not a service of this environment'
      : active.length === 0
        ? 'cannot be chosen: the environment has no service'
        : `is required: the environment has ${active.map(({ name }) => name).join(', ')}`;
  throw new Fault('invalid_input', 'It is not clear which service the file is for.', {
    errors: [{ path: 'serviceId', message }],
  });
}

export function importOperation(ctx: BackupsContext): OperationKind {
  return defineOperation<RestoreInput>({
    kind: importKind,
    readInput: readRestoreInput,
    onPrune: clearOperations,
    onStateChange: (tx, { workspaceId, input }, change) => followRestore(tx, ctx, workspaceId, input, change),
    // The application is stopped first: what it wrote after the copy was made would be lost.
    steps: [
      steps.checkStep(ctx),
      steps.safetyStep(ctx),
      steps.stopStep(ctx),
      steps.loadStep(ctx),
      steps.swapStep(ctx),
      steps.startStep(ctx),
      steps.settleStep(ctx),
    ],
  });
}
