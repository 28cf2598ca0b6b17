/** When backups are made by themselves, where they go, and how long they stay. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import * as queries from './config-queries.ts';
import { showDestinations } from './destinations.ts';

/** Where nobody has said anything: nothing by itself, and what is asked for stays on this machine. */
const standardConfig = {
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

export async function configOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<queries.ConfigRow> {
  const row = await queries.findConfig(db, workspaceId, environmentId);
  return row ?? { ...standardConfig, environmentId };
}

export async function readConfig(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  if (!(await readEnvironmentState(db, workspaceId, environmentId))) throw environmentNotFound();
  return shownConfig(db, workspaceId, environmentId);
}

export async function shownConfig(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  const row = await configOf(db, workspaceId, environmentId);
  const { enabled, cron, timezone, keepLast, keepDays, verify, destinationId, nextRunAt, lastRunAt } = row;
  const destination = await showDestinations(db, workspaceId, [destinationId]);
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
