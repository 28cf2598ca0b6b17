/** Deployments as shown. */
import { readEvents } from '../../events/events.ts';
import type { DeploymentId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Database, Queryable } from '../../store/database.ts';
import { requireEnvironment } from '../environments/environment-state.ts';
import { deploymentNotFound } from './deployments.ts';
import * as queries from './queries.ts';

/** Both ids count: a deployment of another environment is not there. */
export async function findIn(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: DeploymentId,
): Promise<queries.DeploymentRow> {
  const row = await queries.findDeployment(db, workspaceId, id);
  if (!row || row.environmentId !== environmentId) throw deploymentNotFound();
  return row;
}

export async function readDeployment(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: DeploymentId,
) {
  const row = await findIn(db, workspaceId, environmentId, id);
  return { ...shownDeployment(row), plan: row.plan, probes: [...row.probes] };
}

export async function listDeployments(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  page: Page,
) {
  await requireEnvironment(db, workspaceId, environmentId);
  const { before, limit } = page;
  const rows = await queries.listDeployments(db, workspaceId, environmentId, { before, limit: limit + 1 });
  return page.answer(rows, shownDeployment);
}

function shownDeployment(row: queries.DeploymentRow) {
  const { id, environmentId, number, trigger, commit, wanted, status, steps, fault, imageDigest } = row;
  const time = (at: Date | null) => at?.toISOString() ?? null;
  const { startedAt, finishedAt } = row;
  return {
    id,
    environmentId,
    number,
    trigger,
    source: row.uploadId === null ? ('repository' as const) : ('upload' as const),
    status,
    fault,
    imageDigest,
    commit: commit ?? commitWanted(wanted),
    step: steps.find((step) => step.status === 'running')?.name ?? null,
    steps: [...steps],
    rollbackOf: row.rollbackOf,
    supersededBy: row.supersededBy,
    operationId: row.operationId,
    serverId: row.serverId,
    requestedBy: row.requestedBy,
    queuedAt: row.queuedAt.toISOString(),
    startedAt: time(startedAt),
    finishedAt: time(finishedAt),
    durationMs: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null,
  };
}

/** Before it is fetched, as much as is known. */
function commitWanted(wanted: queries.DeploymentRow['wanted']) {
  const nothing = { sha: null, message: null, author: null };
  if ('release' in wanted) return { ...nothing, branch: null };
  return 'sha' in wanted
    ? { ...nothing, sha: wanted.sha, branch: wanted.branch }
    : { ...nothing, branch: wanted.branch };
}

/** The lines that its steps printed, oldest first; `after` is a position of its stream. */
export async function readLogs(
  db: Database,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: DeploymentId,
  { after, limit }: { readonly after: number; readonly limit: number },
) {
  await findIn(db, workspaceId, environmentId, id);
  const upTo = Number.MAX_SAFE_INTEGER;
  const events = await readEvents(db, { workspaceId, feedId: id }, { after, upTo, limit: limit + 1 });
  const page = events.slice(0, limit);
  const items = page
    .filter(({ kind }) => kind === 'log')
    .map(({ position, at, data }) => ({
      position,
      at: at.toISOString(),
      step: String(data.step ?? ''),
      line: String(data.line ?? ''),
    }));
  const last = page.at(-1);
  return { items, nextCursor: events.length > limit && last ? String(last.position) : null };
}
