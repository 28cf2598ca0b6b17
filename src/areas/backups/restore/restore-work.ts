/**
 * What restores and imports have in common: which data is replaced by what, under which names, in what order. Data is
 * loaded into a staging copy that is swapped with what is live; until then, and after any failure, what was live is live.
 */

import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { BackupRestoreId, EnvironmentId, WorkspaceId } from '../../../ids.ts';
import type { StateChange, StepContext } from '../../../operations/definition.ts';
import type { Queryable } from '../../../store/database.ts';
import type { EnvironmentState } from '../../environments/environment-state.ts';
import { environmentOf, targetOf } from '../../reconcile/reconcile.ts';
import { majorOf } from '../../services/kinds/kind.ts';
import type { BackupsContext } from '../backups.ts';
import type { LoadInput, ServerFile, SwapNames } from '../engines/engine.ts';
import { workFolder } from '../engines/server-files.ts';
import { type BackupSource, matchingSource, sourcesOf } from '../make/sources.ts';
import { listParts, type PartRow } from '../part-queries.ts';
import { findRestore, type RestoreRow, setRestoreEnded, setRestoreRunning } from './restore-queries.ts';

export interface RestoreInput {
  readonly restoreId: BackupRestoreId;
  readonly environmentId: EnvironmentId;
  readonly safetyBackup: boolean;
}

/** One database or volume whose data is replaced. */
export interface Replacement {
  readonly position: number;
  readonly source: BackupSource;
  /** Null for an upload. */
  readonly part: PartRow | null;
  readonly file: ServerFile;
  readonly load: LoadInput;
  readonly names: SwapNames;
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
    throw new Error('the input names no restore');
  return {
    restoreId: restoreId as BackupRestoreId,
    environmentId: environmentId as EnvironmentId,
    safetyBackup: safetyBackup !== false,
  };
}

/** Read anew by each step: it holds secrets, which no journal keeps. `mustAnswer`: refuses where a database is down. */
export async function restoreWork(
  ctx: BackupsContext,
  { restoreId, environmentId }: RestoreInput,
  step: StepContext,
  mustAnswer = false,
): Promise<RestoreWork> {
  const restore = await findRestore(ctx.db, step.workspaceId, restoreId);
  if (!restore) throw new Fault('not_found', 'The restore does not exist any more.');
  const environment = await environmentOf(ctx, { environmentId }, step);
  const target = await targetOf(ctx, environment, step);
  const host = target.dataHost;
  if (restore.source === 'upload' && restore.serverId !== host.placement.serverId)
    throw incompatible('The environment has moved to another server since the file was uploaded.');
  const sources = await sourcesOf(ctx, target, environment, { serviceId: restore.serviceId, mustAnswer });
  const replacements =
    restore.source === 'upload'
      ? sources.map((source) => replacement(ctx, restore, source, null, 0))
      : await fromBackup(ctx, restore, sources, step.workspaceId);
  if (replacements.length === 0) throw incompatible('The service does not exist any more.');
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
  return parts.map((part, position) => replacement(ctx, restore, sourceFor(part, sources), part, position));
}

/** The live data that the part replaces, of a version that can read it. */
function sourceFor(part: PartRow, sources: readonly BackupSource[]): BackupSource {
  const found = matchingSource(part, sources);
  if (!found) throw incompatible(`The environment has no ${part.sourceType} ${part.name} any more.`);
  if (found.kind !== part.kind)
    throw incompatible(`${part.name} is ${found.kind} now, and the backup is of ${part.kind}.`);
  if (part.version !== null && majorOf(part.version) !== majorOf(found.version ?? ''))
    throw incompatible(`${part.name} is of version ${found.version} now, and the backup of ${part.version}.`);
  return found;
}

/** Names are made of ids, so that after a crash they are the same. */
function replacement(
  { importDataBytes }: BackupsContext,
  { id, uploadBytes }: RestoreRow,
  source: BackupSource,
  part: PartRow | null,
  position: number,
): Replacement {
  const suffix = `${id.replaceAll('-', '')}_${position}`;
  const names = { staging: `new_${suffix}`, previous: `old_${suffix}` };
  const { staging } = names;
  return {
    position,
    source,
    part,
    names,
    file: { path: `${workFolder(id)}/${part?.id ?? 'upload'}`, bytes: part?.dumpBytes ?? uploadBytes ?? 0 },
    load: part
      ? { staging, base: 'empty', content: 'dump' }
      : { staging, base: 'copy', content: 'upload', mostBytes: importDataBytes },
  };
}

export function incompatible(message: string): Fault {
  return new Fault('backup_incompatible', message, {
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
  if (change.state === 'running') return void (await setRestoreRunning(tx, workspaceId, restoreId));
  const status = change.state === 'succeeded' ? 'succeeded' : 'failed';
  await setRestoreEnded(tx, workspaceId, restoreId, status, ctx.clock.now());
}
