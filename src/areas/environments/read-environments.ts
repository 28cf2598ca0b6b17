/** Environments as shown: with what other areas show of them, and the address that they answer at. */
import { limitsOf } from '../../engine/capacity.ts';
import type { EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { projectNotFound } from '../projects/projects.ts';
import { readSource } from '../projects/read-source.ts';
import { readServer } from '../servers/read-server.ts';
import { type EnvironmentSettings, environmentNotFound } from './environments.ts';
import type { EnvironmentHooks, EnvironmentParts } from './hooks.ts';
import { placementsOfAll } from './placement/placements.ts';
import * as queries from './queries.ts';

export type ShownEnvironment = ReturnType<Awaited<ReturnType<typeof showing>>>;

export async function readEnvironment(
  db: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
) {
  const row = await queries.findEnvironment(db, workspaceId, id);
  if (!row) throw environmentNotFound();
  return (await showing(db, hooks, workspaceId, [row]))(row);
}

export async function listEnvironments(
  db: Queryable,
  hooks: EnvironmentHooks,
  { workspaceId, projects }: Sight,
  projectId: ProjectId | undefined,
  page: Page,
) {
  // A project that is not there is said to be so: an empty list would say that it has none.
  if (projectId !== undefined) {
    if (projects?.includes(projectId) === false) throw projectNotFound();
    await readSource(db, workspaceId, projectId);
  }
  const { before, limit } = page;
  const of = projectId === undefined ? projects : [projectId];
  const rows = await queries.listEnvironments(db, workspaceId, of, { before, limit: limit + 1 });
  return page.answer(rows, await showing(db, hooks, workspaceId, rows));
}

export async function environmentsOf(
  db: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  projectIds: readonly ProjectId[],
): Promise<ReadonlyMap<ProjectId, ShownEnvironment[]>> {
  const byProject = new Map<ProjectId, ShownEnvironment[]>();
  if (projectIds.length === 0) return byProject;
  const rows = await queries.listOfProjects(db, workspaceId, projectIds);
  const show = await showing(db, hooks, workspaceId, rows);
  for (const row of rows) byProject.set(row.projectId, [...(byProject.get(row.projectId) ?? []), show(row)]);
  return byProject;
}

const noParts: EnvironmentParts = { services: [], domain: null, lastDeployment: null };

/** What belongs to them is read for all at once. */
async function showing(
  db: Queryable,
  hooks: EnvironmentHooks,
  workspaceId: WorkspaceId,
  rows: readonly queries.EnvironmentRow[],
) {
  const ids = rows.map(({ id }) => id);
  const parts = new Map<EnvironmentId, EnvironmentParts>(ids.map((id) => [id, noParts]));
  for (const { show } of hooks) {
    for (const [id, part] of (await show?.(db, workspaceId, ids)) ?? []) {
      const known = parts.get(id);
      if (known) parts.set(id, { ...known, ...part });
    }
  }
  const places = ids.length === 0 ? [] : await placementsOfAll(db, workspaceId, ids);
  const servers = await serversOf(db, workspaceId, [...rows, ...places]);
  return (row: queries.EnvironmentRow) => {
    const own = parts.get(row.id) ?? noParts;
    // Where it has stood longest: that one serves until a move is done.
    const place = places.find(({ environmentId }) => environmentId === row.id);
    const host = place && servers.get(place.serverId)?.host;
    const url = host && `http://${host.includes(':') ? `[${host}]` : host}:${place.port}`;
    const server = row.serverId === null ? undefined : servers.get(row.serverId);
    const { memoryMb = null, cpus = null } = row.settings;
    const placement = server && placementOf(server, row.settings);
    const resources = server?.facts ? limitsOf({ memoryMb, cpus }, server.facts) : null;
    return { ...shown(row, own, own.domain?.url ?? url ?? null), placement: placement ?? null, resources };
  };
}

function placementOf(
  { id, clusterId }: Awaited<ReturnType<typeof readServer>>,
  { replicas = 1, spread = 'even' }: EnvironmentSettings,
) {
  return clusterId === null ? { serverId: id } : { clusterId, replicas, spread };
}

async function serversOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  on: readonly { readonly serverId: ServerId | null }[],
) {
  const servers = new Map<ServerId, Awaited<ReturnType<typeof readServer>>>();
  for (const { serverId } of on)
    if (serverId !== null && !servers.has(serverId))
      servers.set(serverId, await readServer(db, workspaceId, serverId));
  return servers;
}

function shown(row: queries.EnvironmentRow, parts: EnvironmentParts, url: string | null) {
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
    ...parts,
    problem,
    url,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Those that stand on a server: for those who want to remove it. */
export function environmentsOn(db: Queryable, workspaceId: WorkspaceId, serverId: ServerId) {
  return queries.listOnServer(db, workspaceId, serverId);
}
