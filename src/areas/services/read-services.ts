/** Services as shown: with their environment, and in a list of their own that has the removed ones too. */
import type { EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { shownFault } from '../../wire.ts';
import { kinds } from './kinds/kinds.ts';
import * as queries from './queries.ts';
import { variableNames } from './variable-names.ts';

export type ServiceInEnvironment = ReturnType<typeof shown>;
export type ListedService = Awaited<ReturnType<typeof listedServices>>[number];

/** Those that are wanted, of several environments at once. */
export async function servicesOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
): Promise<ReadonlyMap<EnvironmentId, ServiceInEnvironment[]>> {
  const byEnvironment = new Map<EnvironmentId, ServiceInEnvironment[]>();
  if (environmentIds.length === 0) return byEnvironment;
  for (const row of await queries.listServices(db, workspaceId, environmentIds)) {
    if (row.removedAt !== null) continue;
    byEnvironment.set(row.environmentId, [...(byEnvironment.get(row.environmentId) ?? []), shown(row)]);
  }
  return byEnvironment;
}

export async function listedServices(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  const rows = await queries.listServices(db, workspaceId, [environmentId]);
  const names = variableNames(rows.filter(({ removedAt }) => removedAt === null));
  return rows.map((row) => ({
    ...shown(row),
    variables: names.get(row) ?? [],
    hasData: row.dataVersion !== null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    removedAt: row.removedAt?.toISOString() ?? null,
  }));
}

function shown({ id, kind, name, version, memoryMb, storage, status, problem }: queries.ServiceRow) {
  const { defaultVersion, memoryMb: memory } = kinds[kind];
  return {
    id,
    kind,
    name,
    version: version || defaultVersion,
    memoryMb: memoryMb ?? memory.standard,
    storage,
    status,
    problem: shownFault(problem),
  };
}

/** Those with data on a server, also the removed ones: for whoever wants to take the environment elsewhere. */
export async function holdsData(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<{ readonly name: string; readonly serverId: ServerId }[]> {
  const rows = await queries.listServices(db, workspaceId, [environmentId]);
  return rows.flatMap(({ name, serverId, dataVersion }) =>
    dataVersion !== null && serverId !== null ? [{ name, serverId }] : [],
  );
}

/** Whether there is anything to look after when the application starts. */
export async function hasServices(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<boolean> {
  const rows = await queries.listServices(db, workspaceId, [environmentId]);
  return rows.some(({ removedAt }) => removedAt === null);
}
