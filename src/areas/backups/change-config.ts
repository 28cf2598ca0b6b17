/** The schedule of an environment, its retention and its destination are changed; what is not named stays. */
import { Fault } from '../../fault.ts';
import { type BackupDestinationId, type EnvironmentId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { lockEnvironment, readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { type BackupsContext, credentialsPlace } from './backups.ts';
import { configOf, shownConfig } from './config.ts';
import { insertDestination, saveConfig } from './config-queries.ts';
import { findDestination, openS3, type S3Place } from './destinations.ts';
import { checkSchedule, nextRun } from './schedule-times.ts';

export type DestinationWish =
  | { readonly type: 'local' }
  | {
      readonly type: 's3';
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      readonly prefix?: string;
      readonly accessKeyId: string;
      /** May be left away where the place before had the same endpoint and the same key. */
      readonly secretAccessKey?: string;
    };

export interface ConfigWish {
  readonly enabled?: boolean;
  readonly cron?: string;
  readonly timezone?: string;
  readonly retention?: { readonly keepLast?: number; readonly keepDays?: number };
  readonly destination?: DestinationWish;
  readonly verify?: boolean;
}

type Place = { readonly place: S3Place; readonly secret: Secret } | null;

const proveWithinMs = 20_000;

export async function changeConfig(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  wish: ConfigWish,
) {
  if (!(await readEnvironmentState(ctx.db, workspaceId, environmentId))) throw environmentNotFound();
  // Before anything is locked: a store may take its time to answer.
  const place = wish.destination && (await proven(ctx, workspaceId, environmentId, wish.destination));
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockEnvironment(tx, workspaceId, environmentId);
    const known = await configOf(tx, workspaceId, environmentId);
    const {
      enabled = known.enabled,
      cron = known.cron,
      timezone = known.timezone,
      verify = known.verify,
    } = wish;
    const { keepLast = known.keepLast, keepDays = known.keepDays } = wish.retention ?? {};
    checkSchedule({ cron, timezone }, now);
    const destinationId =
      place === undefined ? known.destinationId : await keep(tx, ctx, workspaceId, place, now);
    const isSame = known.enabled && known.cron === cron && known.timezone === timezone;
    // A run that is due is not put off by whoever changes something else.
    const nextRunAt = isSame ? known.nextRunAt : nextRun({ cron, timezone }, environmentId, now);
    const row = {
      environmentId,
      enabled,
      cron: cron.trim(),
      timezone,
      keepLast,
      keepDays,
      verify,
      destinationId,
    };
    await saveConfig(tx, workspaceId, { ...row, nextRunAt: enabled ? nextRunAt : null }, now);
    return shownConfig(tx, workspaceId, environmentId);
  });
}

/** Writes, reads and removes something there: what is wrong is heard now, and not in the night. */
async function proven(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  wish: DestinationWish,
): Promise<Place> {
  const options = { signal: AbortSignal.timeout(proveWithinMs) };
  if (wish.type === 'local') {
    await ctx.localStorage.prove(options);
    return null;
  }
  const { endpoint, region, bucket, prefix = '', accessKeyId } = wish;
  const place = { endpoint, region, bucket, prefix, accessKeyId };
  const secret =
    wish.secretAccessKey === undefined
      ? await knownSecret(ctx, workspaceId, environmentId, place)
      : new Secret(wish.secretAccessKey);
  await openS3(ctx, place, secret).prove(options);
  return { place, secret };
}

async function knownSecret(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  { endpoint, accessKeyId }: S3Place,
): Promise<Secret> {
  const { destinationId } = await configOf(ctx.db, workspaceId, environmentId);
  const row = destinationId && (await findDestination(ctx.db, workspaceId, destinationId));
  if (!row || row.endpoint !== endpoint || row.accessKeyId !== accessKeyId)
    throw new Fault('invalid_input', 'The secret of the access key is needed.', {
      errors: [{ path: 'destination.secretAccessKey', message: 'is required' }],
    });
  return ctx.sealer.open(ctx.db, credentialsPlace(workspaceId, row.id), row.credentialsSealed);
}

async function keep(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  place: Place,
  now: Date,
): Promise<BackupDestinationId | null> {
  if (place === null) return null;
  const id = newId<BackupDestinationId>();
  const credentialsSealed = await ctx.sealer.seal(tx, credentialsPlace(workspaceId, id), place.secret);
  await insertDestination(tx, workspaceId, { id, ...place.place, credentialsSealed }, now);
  return id;
}
