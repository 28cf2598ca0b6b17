/**
 * What restores and imports have in common: which data is replaced by what, under which names, in what order. Data is
 * loaded beside what is live and changes places with it; until then, and after any failure, what was live is live.
 */

import type { DockerHost } from '../../engine/docker-host.ts';
import { Fault } from '../../fault.ts';
import type { BackupRestoreId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { StateChange, StepContext } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import { majorOf } from '../services/kinds/kind.ts';
import { environmentOf, targetOf } from '../upkeep/upkeep.ts';
import type { BackupsContext } from './backups.ts';
import type { Begin, BesideName, ServerFile } from './engines/engine.ts';
import { listParts, type PartRow } from './part-queries.ts';
import { findRestore, type RestoreRow, setEnded, setRunning } from './restore-queries.ts';
import { folderOf } from './server-files.ts';
import { type BackupSource, sourcesOf } from './sources.ts';

export interface RestoreInput {
  readonly restoreId: BackupRestoreId;
  readonly environmentId: EnvironmentId;
  readonly safetyBackup: boolean;
}

/** One database or volume that gets other data. */
export interface Replacement {
  readonly place: number;
  readonly source: BackupSource;
  /** Null for an upload. */
  readonly part: PartRow | null;
  readonly file: ServerFile;
  readonly begin: Begin;
  readonly content: 'dump' | 'upload';
  readonly beside: BesideName;
  readonly before: BesideName;
}

export interface RestoreWork {
  readonly restore: RestoreRow;
  readonly environment: EnvironmentState;
  readonly host: DockerHost;
  readonly replacements: readonly Replacement[];
}

export function readRestoreInput(stored: unknown): RestoreInput {
  const { restoreId, environmentId, safetyBackup } = Object(stored);
  if (typeof restoreId !== 'string' || typeof environmentId !== 'string')
    throw new Error('nothing to put in place');
  return {
    restoreId: restoreId as BackupRestoreId,
    environmentId: environmentId as EnvironmentId,
    safetyBackup: safetyBackup !== false,
  };
}

/** Read anew by each step: what it works with are secrets, which no journal keeps. */
export async function restoreWork(
  ctx: BackupsContext,
  { restoreId, environmentId }: RestoreInput,
  step: StepContext,
  { mustAnswer }: { readonly mustAnswer: boolean },
): Promise<RestoreWork> {
  const restore = await findRestore(ctx.db, step.workspaceId, restoreId);
  if (!restore) throw new Fault('not_found', 'What was to be put in place is gone.');
  const environment = await environmentOf(ctx, { environmentId }, step);
  const target = await targetOf(ctx, environment, step);
  const host = target.dataHost;
  if (restore.source === 'upload') requireSameServer(restore, host);
  const sources = await sourcesOf(ctx, target, environment, { serviceId: restore.serviceId, mustAnswer });
  const replacements =
    restore.source === 'upload'
      ? sources.map((source) => replacement(restore, source, null, 0))
      : await fromBackup(ctx, restore, sources, step.workspaceId);
  if (replacements.length === 0) throw incompatible('The service is not there any more.');
  return { restore, environment, host, replacements };
}

async function fromBackup(
  ctx: BackupsContext,
  restore: RestoreRow,
  sources: readonly BackupSource[],
  workspaceId: WorkspaceId,
): Promise<Replacement[]> {
  if (restore.backupId === null) throw new Error('a restore without a backup');
  const all = await listParts(ctx.db, workspaceId, [restore.backupId]);
  const parts = all.filter(({ serviceId }) => restore.serviceId === null || serviceId === restore.serviceId);
  return parts.map((part, place) => replacement(restore, fitting(part, sources), part, place));
}

/** The data that the part goes to: the same service, or the volume of the same name, of a version that can read it. */
function fitting(part: PartRow, sources: readonly BackupSource[]): BackupSource {
  const found = sources.find(({ type, serviceId, name }) =>
    part.sourceType === 'service' ? serviceId === part.serviceId : type === 'volume' && name === part.name,
  );
  const what = part.sourceType === 'service' ? 'service' : 'volume';
  if (!found) throw incompatible(`The environment has no ${what} ${part.name} any more.`);
  if (found.kind !== part.kind)
    throw incompatible(`${part.name} is ${found.kind} now, and the backup is of ${part.kind}.`);
  if (part.version !== null && majorOf(part.version) !== majorOf(found.version ?? ''))
    throw incompatible(`${part.name} is of version ${found.version} now, and the backup of ${part.version}.`);
  return found;
}

/** Names are made of ids: whoever comes after a crash finds what the one before has made. */
function replacement(
  { id, uploadBytes }: RestoreRow,
  source: BackupSource,
  part: PartRow | null,
  place: number,
): Replacement {
  const short = id.replaceAll('-', '');
  const file = {
    path: `${folderOf(id)}/${part?.id ?? 'upload'}`,
    bytes: part?.dumpBytes ?? uploadBytes ?? 0,
  };
  return {
    place,
    source,
    part,
    file,
    beside: `new_${short}_${place}`,
    before: `old_${short}_${place}`,
    ...(part ? { begin: 'empty', content: 'dump' } : { begin: 'copy', content: 'upload' }),
  };
}

function requireSameServer({ serverId }: RestoreRow, { placement }: DockerHost): void {
  if (serverId === placement.serverId) return;
  throw incompatible('The environment has moved to another server since the file was uploaded.');
}

export function incompatible(sentence: string): Fault {
  return new Fault('backup_incompatible', sentence, {
    hint: 'Restore only what fits, with `serviceId`, or bring the service back as it was. Nothing was changed.',
  });
}

export async function followRestore(
  tx: Queryable,
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  { restoreId }: RestoreInput,
  change: StateChange,
): Promise<void> {
  if (change.state === 'running') return void (await setRunning(tx, workspaceId, restoreId));
  const status = change.state === 'succeeded' ? 'succeeded' : 'failed';
  await setEnded(tx, workspaceId, restoreId, status, ctx.clock.now());
}
