/** Changes the schedule of an environment, its retention and its destination; what is not named stays. */
import { Fault } from '../../fault.ts';
import { type BackupDestinationId, type EnvironmentId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { lockEnvironment, readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { type BackupsContext, destinationCredentialsPlace } from './backups.ts';
import { backupConfigOf, configView } from './config.ts';
import { findDestination, openS3, type S3Settings } from './destinations.ts';
import { insertDestination, saveBackupConfig } from './schedule/config-queries.ts';
import { checkSchedule, nextRun } from './schedule/schedule-times.ts';

export type DestinationInput =
  | { readonly type: 'local' }
  | (Omit<S3Settings, 'prefix'> & {
      readonly type: 's3';
      readonly prefix?: string;
      /** May be omitted where the destination before had the same endpoint and the same key. */
      readonly secretAccessKey?: string;
    });

export interface ConfigInput {
  readonly enabled?: boolean;
  readonly cron?: string;
  readonly timezone?: string;
  readonly retention?: { readonly keepLast?: number; readonly keepDays?: number };
  readonly destination?: DestinationInput;
  readonly verify?: boolean;
}

/** Null for the folder of the service. */
type Destination = { readonly settings: S3Settings; readonly secret: Secret } | null;

const probeTimeoutMs = 20_000;

export async function changeConfig(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  input: ConfigInput,
) {
  if (!(await readEnvironmentState(ctx.db, workspaceId, environmentId))) throw environmentNotFound();
  // Before anything is locked: a storage may take its time to answer.
  const destination = input.destination && (await probed(ctx, workspaceId, environmentId, input.destination));
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockEnvironment(tx, workspaceId, environmentId);
    const current = await backupConfigOf(tx, workspaceId, environmentId);
    const {
      enabled = current.enabled,
      cron = current.cron,
      timezone = current.timezone,
      verify = current.verify,
    } = input;
    const isSameSchedule = current.cron === cron && current.timezone === timezone;
    if (!isSameSchedule) checkSchedule({ cron, timezone });
    const destinationId =
      destination === undefined
        ? current.destinationId
        : await storeDestination(tx, ctx, workspaceId, destination, now);
    // A run that is due is not put off by a change of something else.
    const next =
      current.enabled && isSameSchedule ? current.nextRunAt : nextRun({ cron, timezone }, environmentId, now);
    const row = {
      ...current,
      ...input.retention,
      enabled,
      cron: cron.trim(),
      timezone,
      verify,
      destinationId,
      nextRunAt: enabled ? next : null,
    };
    await saveBackupConfig(tx, workspaceId, row, now);
    return configView(tx, workspaceId, environmentId);
  });
}

/** Writes, reads and removes an object there: what is wrong shows now, and not at the next backup. */
async function probed(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  input: DestinationInput,
): Promise<Destination> {
  const options = { signal: AbortSignal.timeout(probeTimeoutMs) };
  if (input.type === 'local') {
    await ctx.localStorage.prove(options);
    return null;
  }
  const { endpoint, region, bucket, prefix = '', accessKeyId } = input;
  const settings = { endpoint, region, bucket, prefix, accessKeyId };
  const secret =
    input.secretAccessKey === undefined
      ? await storedSecret(ctx, workspaceId, environmentId, settings)
      : new Secret(input.secretAccessKey);
  await openS3(ctx, settings, secret).prove(options);
  return { settings, secret };
}

async function storedSecret(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { endpoint, accessKeyId }: S3Settings,
): Promise<Secret> {
  const { destinationId } = await backupConfigOf(ctx.db, workspaceId, environmentId);
  const row = destinationId && (await findDestination(ctx.db, workspaceId, destinationId));
  if (!row || row.endpoint !== endpoint || row.accessKeyId !== accessKeyId)
    throw new Fault('invalid_input', 'The secret access key is required.', {
      errors: [{ path: 'destination.secretAccessKey', message: 'is required' }],
    });
  return ctx.sealer.open(ctx.db, destinationCredentialsPlace(workspaceId, row.id), row.credentialsSealed);
}

async function storeDestination(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  destination: Destination,
  now: Date,
): Promise<BackupDestinationId | null> {
  if (destination === null) return null;
  const id = newId<BackupDestinationId>();
  const credentialsSealed = await ctx.sealer.seal(
    tx,
    destinationCredentialsPlace(workspaceId, id),
    destination.secret,
  );
  await insertDestination(tx, workspaceId, { id, ...destination.settings, credentialsSealed }, now);
  return id;
}
