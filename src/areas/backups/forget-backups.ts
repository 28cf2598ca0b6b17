/**
 * The backups of an environment that is deleted with its data. They are hidden at once; their objects are taken away by
 * the schedule, also where the destination is away for now, and their rows last of all.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { markAllDeleting } from './deletion-queries.ts';

export async function forgetBackups(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  now: Date,
): Promise<void> {
  await markAllDeleting(tx, workspaceId, environmentId, now);
}
