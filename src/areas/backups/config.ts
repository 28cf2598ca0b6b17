/** When backups are made by schedule, where they are stored, and how long they are kept. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { destinationViews } from './destinations.ts';
import { type ConfigRow, findBackupConfig } from './schedule/config-queries.ts';

/** No schedule, and backups that are asked for stay on this machine. */
const defaultConfig = {
  enabled: false,
  cron: '0 3 * * *',
  timezone: 'UTC',
  keepLast: 7,
  keepDays: 30,
  verify: true,
  destinationId: null,
  nextRunAt: null,
  lastRunAt: null,
} as const;

export async function backupConfigOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<ConfigRow> {
  const row = await findBackupConfig(db, workspaceId, environmentId);
  return row ?? { ...defaultConfig, environmentId };
}

export async function readBackupConfig(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
) {
  if (!(await readEnvironmentState(db, workspaceId, environmentId))) throw environmentNotFound();
  return configView(db, workspaceId, environmentId);
}

export async function configView(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  const row = await backupConfigOf(db, workspaceId, environmentId);
  const { enabled, cron, timezone, keepLast, keepDays, verify, destinationId, nextRunAt, lastRunAt } = row;
  const destination = await destinationViews(db, workspaceId, [destinationId]);
  return {
    enabled,
    cron,
    timezone,
    verify,
    retention: { keepLast, keepDays },
    destination: destination(destinationId),
    nextRunAt: nextRunAt?.toISOString() ?? null,
    lastRunAt: lastRunAt?.toISOString() ?? null,
  };
}
