/** Backups as the API answers with them. */
import type { BackupId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { backupNotFound } from './backups.ts';
import { configView } from './config.ts';
import { type DestinationView, destinationViews } from './destinations.ts';
import { listParts, type PartRow } from './part-queries.ts';
import * as queries from './queries.ts';

export type BackupView = Awaited<ReturnType<typeof readBackup>>;

export async function readBackup(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: BackupId,
) {
  const row = await queries.findVisible(db, workspaceId, environmentId, id);
  if (!row) throw backupNotFound();
  return (await viewer(db, workspaceId, [row]))(row);
}

/** Also of an environment that is gone, where its backups were left. */
export async function listBackups(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  page: Page,
) {
  const exists = (await readEnvironmentState(db, workspaceId, environmentId)) !== undefined;
  if (!exists && !(await queries.hasBackups(db, workspaceId, environmentId))) throw environmentNotFound();
  return {
    ...(await pageOf(db, { workspaceId, projects: null, environmentId }, page)),
    storage: await queries.usedStorage(db, { workspaceId, projects: null, environmentId }),
    config: exists ? await configView(db, workspaceId, environmentId) : null,
  };
}

export async function listAllBackups(db: Queryable, { workspaceId, projects }: Sight, page: Page) {
  const of = { workspaceId, projects, environmentId: null };
  return {
    ...(await pageOf(db, of, page)),
    storage: await queries.usedStorage(db, of),
  };
}

async function pageOf(db: Queryable, of: queries.BackupsOf, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listBackupRows(db, of, { before, limit: limit + 1 });
  return page.answer(rows, await viewer(db, of.workspaceId, rows));
}

async function viewer(db: Queryable, workspaceId: WorkspaceId, rows: readonly queries.BackupRow[]) {
  const ids = rows.map(({ id }) => id);
  const destinations = rows.map(({ destinationId }) => destinationId);
  const [parts, destination] = [
    ids.length > 0 ? await listParts(db, workspaceId, ids) : [],
    await destinationViews(db, workspaceId, destinations),
  ];
  const byBackup = Map.groupBy(parts, ({ backupId }) => backupId);
  return (row: queries.BackupRow) => viewOf(row, byBackup.get(row.id) ?? [], destination(row.destinationId));
}

function viewOf(row: queries.BackupRow, parts: readonly PartRow[], destination: DestinationView) {
  const { id, environmentId, environmentName, serviceId, trigger, status, operationId, requestedBy } = row;
  return {
    id,
    environmentId,
    environmentName,
    serviceId,
    trigger,
    status,
    operationId,
    requestedBy,
    sizeBytes: row.sizeBytes,
    sha256: row.sha256,
    destination,
    fault: row.fault,
    verifiedAt: row.verifiedAt?.toISOString() ?? null,
    parts: parts.map(partView),
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}

function partView(part: PartRow) {
  const { id, sourceType, serviceId, name, kind, version, format, verification, warning } = part;
  return {
    id,
    source: { type: sourceType, serviceId, name },
    kind,
    version,
    format,
    verification,
    warning,
    sizeBytes: part.sizeBytes,
    rawBytes: part.rawBytes,
    sha256: part.sha256,
    isEncrypted: part.keySealed !== null,
  };
}
