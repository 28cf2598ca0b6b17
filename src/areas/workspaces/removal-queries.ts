/** The SQL of the end of a workspace. */
import { after, day } from '../../clock.ts';
import type { AccountId, ClusterId, OperationId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export function setClosing(tx: Queryable, id: WorkspaceId, closing: boolean) {
  return tx.run(sql`update memberships set closing = ${closing} where workspace_id = ${id}`);
}

export function deleteInvitations(tx: Queryable, id: WorkspaceId) {
  return tx.run(sql`delete from invitations where workspace_id = ${id}`);
}

export interface Leaving<Id> {
  readonly id: Id;
  readonly name: string;
}

export function listProjects(db: Queryable, id: WorkspaceId) {
  return db.rows<Leaving<ProjectId>>(sql`
    select id, name from projects where workspace_id = ${id} order by id`);
}

export function listClusters(db: Queryable, id: WorkspaceId) {
  return db.rows<Leaving<ClusterId>>(sql`
    select id, name from clusters where workspace_id = ${id} order by id`);
}

export function listServers(db: Queryable, id: WorkspaceId) {
  return db.rows<Leaving<ServerId>>(sql`
    select id, name from servers where workspace_id = ${id} order by id`);
}

/** Whether one of this kind has ended badly since the given operation was asked for. */
export function hasFailedSince(
  db: Queryable,
  workspaceId: WorkspaceId,
  subjectId: string,
  kind: string,
  since: OperationId,
): Promise<boolean> {
  return db.exists(sql`
    select 1 from operations
    where workspace_id = ${workspaceId} and id > ${since} and kind = ${kind} and subject_id = ${subjectId}
      and state in ('failed', 'cancelled') limit 1`);
}

export async function countUnfinished(db: Queryable, workspaceId: WorkspaceId, but: OperationId) {
  const row = await db.one<{ count: number }>(sql`
    select count(*)::int as count from operations
    where workspace_id = ${workspaceId} and finished_at is null and id <> ${but}`);
  return row?.count ?? 0;
}

/** Only whoever asked for it still sees how it went; its backups go where they lie, and their keys with the workspace. */
export async function setRemoved(tx: Queryable, id: WorkspaceId, requestedBy: AccountId, now: Date) {
  await tx.run(sql`
    delete from memberships where workspace_id = ${id} and account_id <> ${requestedBy}`);
  await tx.run(sql`delete from api_tokens where workspace_id = ${id}`);
  await tx.run(sql`update backups set delete_at = ${now} where workspace_id = ${id} and delete_at is null`);
  await tx.run(sql`update workspaces set removed_at = ${now} where id = ${id}`);
}

/** One after the other: each is everything that was in it. */
export async function pruneRemoved(db: Queryable, now: Date): Promise<void> {
  const rows = await db.rows<{ id: WorkspaceId }>(sql`
    select id from workspaces where removed_at <= ${after(now, -day)} order by removed_at limit 100`);
  for (const { id } of rows)
    await db.run(sql`
      delete from workspaces
      where id = ${id} and not exists (select 1 from backups where workspace_id = ${id})`);
}
