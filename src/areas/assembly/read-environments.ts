/** Environments as shown: with their services, and the address that they answer at. */
import type { EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { type NameView, namesOfEnvironments } from '../domains/read-names.ts';
import {
  environmentsOfProjects,
  findEnvironment,
  findEnvironments,
  type StoredEnvironment,
} from '../environments/find-environments.ts';
import { placesOfAll } from '../environments/places.ts';
import { readSource } from '../projects/read-source.ts';
import { readServer } from '../servers/read-server.ts';
import { type ServiceInEnvironment, servicesOf } from '../services/read-services.ts';

export type ShownEnvironment = ReturnType<typeof shown>;

export async function readEnvironment(db: Queryable, workspaceId: WorkspaceId, id: EnvironmentId) {
  const row = await findEnvironment(db, workspaceId, id);
  return (await showing(db, workspaceId, [row]))(row);
}

export async function listEnvironments(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId | null,
  page: Page,
) {
  // A project that is not there is said to be so: an empty list would say that it has none.
  if (projectId !== null) await readSource(db, workspaceId, projectId);
  const { before, limit } = page;
  const rows = await findEnvironments(db, workspaceId, projectId, { before, limit: limit + 1 });
  return page.answer(rows, await showing(db, workspaceId, rows));
}

export async function environmentsOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectIds: readonly ProjectId[],
): Promise<ReadonlyMap<ProjectId, ShownEnvironment[]>> {
  const byProject = new Map<ProjectId, ShownEnvironment[]>();
  if (projectIds.length === 0) return byProject;
  const rows = await environmentsOfProjects(db, workspaceId, projectIds);
  const show = await showing(db, workspaceId, rows);
  for (const row of rows) byProject.set(row.projectId, [...(byProject.get(row.projectId) ?? []), show(row)]);
  return byProject;
}

/** What belongs to them is read for all at once. */
async function showing(db: Queryable, workspaceId: WorkspaceId, rows: readonly StoredEnvironment[]) {
  const ids = rows.map(({ id }) => id);
  const services = await servicesOf(db, workspaceId, ids);
  const urls = await urlsOf(db, workspaceId, ids);
  const names = await namesOfEnvironments(db, workspaceId, ids);
  return (row: StoredEnvironment) => {
    const [domain = null] = names.get(row.id) ?? [];
    return shown(row, services.get(row.id) ?? [], domain, domain?.url ?? urls.get(row.id) ?? null);
  };
}

/** Where it has stood longest: that one serves until a move is done. */
async function urlsOf(db: Queryable, workspaceId: WorkspaceId, ids: readonly EnvironmentId[]) {
  const urls = new Map<EnvironmentId, string>();
  if (ids.length === 0) return urls;
  const hosts = new Map<ServerId, string>();
  for (const { environmentId, serverId, port } of await placesOfAll(db, workspaceId, ids)) {
    if (urls.has(environmentId)) continue;
    const host = hosts.get(serverId) ?? (await readServer(db, workspaceId, serverId)).host;
    hosts.set(serverId, host);
    urls.set(environmentId, `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  }
  return urls;
}

function shown(
  row: StoredEnvironment,
  services: ServiceInEnvironment[],
  domain: NameView | null,
  url: string | null,
) {
  const { id, projectId, name, slug, branch, serverId, autoDeploy, watchPaths, status } = row;
  const { currentDeploymentId, problem } = row;
  const { volumes, ...settings } = row.settings;
  return {
    id,
    projectId,
    name,
    slug,
    branch,
    serverId,
    autoDeploy,
    status,
    currentDeploymentId,
    settings: { ...settings, ...(volumes && { volumes: [...volumes] }) },
    watchPaths: [...watchPaths],
    services,
    domain,
    problem,
    url,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
