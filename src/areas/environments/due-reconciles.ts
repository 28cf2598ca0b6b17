/** Which environments are to be looked at now, each by one instance, and what was seen of them. */
import type { DeploymentId, EnvironmentId, ReleaseId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

type Seen = Readonly<Record<string, { readonly restarts: number; readonly startedAt: string | null }>>;

export interface DueReconcile {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  readonly currentDeploymentId: DeploymentId;
  readonly currentReleaseId: ReleaseId;
  readonly status: 'running' | 'degraded';
  readonly seen: Seen;
}

/**
 * Only those that should run, on servers that can be asked. Each server has a moment of the minute of its own, at which
 * everything on it is due: one look shows it all, and the looks at many servers do not all come at once. Those on clusters are
 * due every ten seconds: Swarm moves replicas by itself, and the proxies have to follow.
 */
export function takeDueReconciles(db: Queryable, now: Date, most: number) {
  return db.rows<DueReconcile>(sql`
    with due as (
      select workspace_id, id from environments
      where look_at <= ${now} and current_release is not null and wanted = 'running' and server_id is not null
        and status in ('running', 'degraded')
      order by look_at, server_id limit ${most} for update skip locked
    )
    update environments e set look_at = case when exists (
        select 1 from cluster_members m where m.workspace_id = e.workspace_id and m.server_id = e.server_id)
      then ${now}::timestamptz + interval '10 seconds'
      else date_bin('1 minute', ${now}::timestamptz + interval '1 minute', timestamptz 'epoch'
        + ('x' || left(md5(e.server_id::text), 7))::bit(28)::int % 60000 * interval '1 millisecond') end
    from due where e.workspace_id = due.workspace_id and e.id = due.id
    returning e.workspace_id as "workspaceId", e.id as "environmentId", e.server_id as "serverId", e.status,
      e.current_deployment as "currentDeploymentId", e.current_release as "currentReleaseId", e.seen`);
}

export function setSeen(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  seen: Seen,
): Promise<number> {
  return tx.run(sql`
    update environments set seen = ${JSON.stringify(seen)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
}
