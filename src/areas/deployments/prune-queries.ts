/** The SQL of deployments that are many: which are beyond what is kept, and taking them away. */
import type { DeploymentId, EnvironmentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import type { PrunedOperation } from '../../operations/definition.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export interface CrowdedEnvironment {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  /** The newest number that is not kept for its own sake; null where all are. */
  readonly beyond: number | null;
}

/** The next environments that have deployments, of all workspaces: from one to the next in the index, not row by row. */
export function listEnvironmentsAfter(db: Queryable, after: string, keep: number) {
  return db.rows<CrowdedEnvironment>(sql`
    with recursive each as (
      (select workspace_id, environment_id from deployments where environment_id > ${after}::uuid
       order by environment_id limit 1)
      union all
      select next.workspace_id, next.environment_id from each, lateral (
        select workspace_id, environment_id from deployments where environment_id > each.environment_id
        order by environment_id limit 1) next
    )
    select workspace_id as "workspaceId", environment_id as "environmentId", (
      select number from deployments d where d.environment_id = each.environment_id
      order by number desc offset ${keep} limit 1) as beyond
    from each limit 500`);
}

/** Those that were live, the newest first, as far back as images are looked for. */
export function listLive(tx: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return tx.rows<{ id: DeploymentId; releaseId: ReleaseId }>(sql`
    select id, release_id as "releaseId" from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and status = 'succeeded'
      and release_id is not null order by number desc limit 200`);
}

/** What those that are kept went back to. */
export async function listRolledBackTo(
  tx: Queryable,
  { workspaceId, environmentId }: CrowdedEnvironment,
  beyond: number,
): Promise<DeploymentId[]> {
  const rows = await tx.rows<{ id: DeploymentId }>(sql`
    select distinct rollback_of as id from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and number > ${beyond}
      and rollback_of is not null`);
  return rows.map(({ id }) => id);
}

/** The oldest first, so that one that was overtaken goes before the one that it names. */
export function deleteDeployments(
  tx: Queryable,
  { workspaceId, environmentId }: CrowdedEnvironment,
  beyond: number,
  except: readonly DeploymentId[],
) {
  return tx.rows<{ releaseId: ReleaseId | null }>(sql`
    delete from deployments where workspace_id = ${workspaceId} and ctid = any(array(
      select ctid from deployments
      where environment_id = ${environmentId} and number <= ${beyond} and finished_at is not null
        and id <> all(${except}::uuid[])
      order by number limit 1000))
    returning release_id as "releaseId"`);
}

/** Of these releases, those that a deployment still has. */
export async function listReleasesInUse(
  tx: Queryable,
  { workspaceId, environmentId }: CrowdedEnvironment,
  ids: readonly ReleaseId[],
): Promise<ReadonlySet<ReleaseId>> {
  const rows = await tx.rows<{ releaseId: ReleaseId }>(sql`
    select distinct release_id as "releaseId" from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and release_id = any(${ids}::uuid[])`);
  return new Set(rows.map(({ releaseId }) => releaseId));
}

/** A deployment whose operation is no longer kept names none. */
export function forgetOperations(tx: Queryable, gone: readonly PrunedOperation[]): Promise<number> {
  const ours = gone.flatMap(({ subjectId, ...each }) => (subjectId === null ? [] : [{ ...each, subjectId }]));
  return tx.run(sql`
    update deployments d set operation_id = null
    from unnest(${ours.map((each) => each.workspaceId)}::uuid[], ${ours.map((each) => each.subjectId)}::uuid[],
      ${ours.map((each) => each.id)}::uuid[]) as gone (workspace_id, id, operation_id)
    where d.workspace_id = gone.workspace_id and d.id = gone.id and d.operation_id = gone.operation_id`);
}
