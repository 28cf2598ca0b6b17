/** What pushes read of environments, and what they write: its own SQL, for no other use case needs it. */
import type { EnvironmentId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export interface PushedRow {
  readonly id: EnvironmentId;
  readonly name: string;
  readonly branch: string;
  readonly autoDeploy: boolean;
  readonly watchPaths: readonly string[];
  readonly decidedSha: string | null;
  readonly hasServer: boolean;
  readonly isStopped: boolean;
}

export function lockPushed(tx: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  return tx.rows<PushedRow>(sql`
    select id, name, branch, auto_deploy as "autoDeploy", watch_paths as "watchPaths", decided_sha as "decidedSha",
      server_id is not null as "hasServer", wanted = 'stopped' as "isStopped"
    from environments where workspace_id = ${workspaceId} and project_id = ${projectId} order by id for update`);
}

export function setDecided(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  sha: string,
): Promise<number> {
  return tx.run(sql`
    update environments set decided_sha = ${sha} where workspace_id = ${workspaceId} and id = ${id}`);
}

/** With the next run of the poll, where there is one. */
export function lookSoon(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update environments set poll_at = least(poll_at, ${now}) where workspace_id = ${workspaceId} and id = ${id}`);
}

/** All environments of a project are looked at together: their times move together too. */
export function takeDuePolls(db: Queryable, now: Date, next: Date, most: number) {
  return db.rows<{ workspaceId: WorkspaceId; projectId: ProjectId }>(sql`
    with due as (
      select workspace_id, project_id from environments
      where auto_deploy and poll_at <= ${now} order by poll_at limit ${most} for update skip locked
    ), moved as (
      update environments e set poll_at = ${next} from due
      where e.workspace_id = due.workspace_id and e.project_id = due.project_id
      returning e.workspace_id, e.project_id
    )
    select distinct workspace_id as "workspaceId", project_id as "projectId" from moved`);
}
