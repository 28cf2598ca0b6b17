/** The services of an environment as a list of their own. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { requireEnvironment } from '../environments/environment-state.ts';
import { listedServices } from './read-services.ts';

export async function listServices(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  // Without it, an environment of someone else would look like one without services.
  await requireEnvironment(db, workspaceId, environmentId);
  return { items: await listedServices(db, workspaceId, environmentId) };
}
