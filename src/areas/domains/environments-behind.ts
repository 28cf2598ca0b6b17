/** The environments that a domain leads to, with the servers they stand on. */
import type { DomainId, EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
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
