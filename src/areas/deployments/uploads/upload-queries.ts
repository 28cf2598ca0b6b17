/** The SQL of uploads: which of them deployments still have. */
import type { EnvironmentId, UploadId, WorkspaceId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';

/** Those that something runs of, or that are being deployed. */
export async function listNeeded(db: Queryable, workspaceId: WorkspaceId): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ id: UploadId }>(sql`
    select distinct upload_id as id from deployments
    where workspace_id = ${workspaceId} and upload_id is not null
      and (finished_at is null
        or id in (select current_deployment from environments where workspace_id = ${workspaceId}))`);
  return new Set(rows.map(({ id }) => id));
}

/** Of these, those that any deployment names. */
export async function listUsed(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.rows<{ id: UploadId }>(sql`
    select distinct upload_id as id from deployments where upload_id = any(${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

/** The upload that the commit was made of; undefined for one of the repository. */
export async function findUploadOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  sha: string,
): Promise<UploadId | undefined> {
  const row = await db.one<{ id: UploadId }>(sql`
    select upload_id as id from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and upload_id is not null
      and coalesce(commit->>'sha', wanted->>'sha') = ${sha}
    order by id desc limit 1`);
  return row?.id;
}
