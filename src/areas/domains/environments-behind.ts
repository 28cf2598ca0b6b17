/** The environments that a domain leads to, with the servers they stand on. */
import type { DomainId, EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { listOfDomain } from './name-queries.ts';

export async function environmentsBehind(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: DomainId,
): Promise<{ environmentId: EnvironmentId; hostname: string; serverId: ServerId | null }[]> {
  const behind: { environmentId: EnvironmentId; hostname: string; serverId: ServerId | null }[] = [];
  for (const { environmentId, hostname } of await listOfDomain(db, workspaceId, id)) {
    const environment = await readEnvironmentState(db, workspaceId, environmentId);
    behind.push({ environmentId, hostname, serverId: environment?.serverId ?? null });
  }
  return behind;
}

export interface ProjectBehind {
  readonly projectId?: ProjectId;
  readonly environmentId?: EnvironmentId;
}

/** The projects of these environments, each once with the first of its own; a single empty place where there are none. */
export async function projectsBehind(
  db: Queryable,
  workspaceId: WorkspaceId,
  behind: readonly { readonly environmentId: EnvironmentId }[],
): Promise<ProjectBehind[]> {
  const places = new Map<ProjectId, ProjectBehind>();
  for (const { environmentId } of behind) {
    const environment = await readEnvironmentState(db, workspaceId, environmentId);
    if (environment && !places.has(environment.projectId))
      places.set(environment.projectId, { projectId: environment.projectId, environmentId });
  }
  return places.size === 0 ? [{}] : [...places.values()];
}
