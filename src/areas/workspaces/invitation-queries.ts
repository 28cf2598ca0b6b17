/** The SQL of invitations. */
import type { AccountId, InvitationId, WorkspaceId } from '../../ids.ts';
import type { Place } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { fragment, sql } from '../../store/sql.ts';

export interface InvitationRow extends Place {
  readonly id: InvitationId;
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  readonly invitedBy: AccountId | null;
  readonly expiresAt: Date;
  readonly createdAt: Date;
}

const columns = fragment`id, workspace_id as "workspaceId", email, role, projects, invited_by as "invitedBy",
  expires_at as "expiresAt", created_at as "createdAt"`;

/** One of the same address is replaced, and its link with it. */
export function saveInvitation(tx: Queryable, row: InvitationRow) {
  const projects = row.projects && JSON.stringify(row.projects);
  return tx.run(sql`
    insert into invitations (workspace_id, id, email, role, projects, invited_by, expires_at, created_at)
    values (${row.workspaceId}, ${row.id}, ${row.email}, ${row.role}, ${projects}::jsonb, ${row.invitedBy},
      ${row.expiresAt}, ${row.createdAt})
    on conflict (workspace_id, email) do update set id = excluded.id, role = excluded.role,
      projects = excluded.projects, token_hash = null, invited_by = excluded.invited_by,
      expires_at = excluded.expires_at, created_at = excluded.created_at`);
}

export async function countInvitations(tx: Queryable, workspaceId: WorkspaceId): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`
    select count(*)::int as count from invitations where workspace_id = ${workspaceId}`);
  return row?.count ?? 0;
}

export function listInvitations(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { readonly before: string; readonly limit: number; readonly now: Date },
) {
  return db.rows<InvitationRow>(sql`
    select ${columns} from invitations
    where workspace_id = ${workspaceId} and id < ${page.before}::uuid and expires_at > ${page.now}
    order by id desc limit ${page.limit}`);
}

export async function deleteInvitation(tx: Queryable, workspaceId: WorkspaceId, id: InvitationId) {
  return (await tx.run(sql`delete from invitations where workspace_id = ${workspaceId} and id = ${id}`)) > 0;
}

/** For the mail: who invites whom to what. The token before, of a mail that was sent twice, works no more. */
export function setInvitationToken(db: Queryable, id: InvitationId, hash: Buffer, now: Date) {
  return db.one<{ workspace: string; invitedBy: string | null }>(sql`
    update invitations i set token_hash = ${hash} from workspaces w
    where i.id = ${id} and i.expires_at > ${now} and w.id = i.workspace_id
    returning w.name as workspace, (select email from accounts where accounts.id = i.invited_by) as "invitedBy"`);
}

export function findInvitation(db: Queryable, tokenHash: Buffer, now: Date) {
  return db.one<InvitationRow>(sql`
    select ${columns} from invitations where token_hash = ${tokenHash} and expires_at > ${now}`);
}

/** Ends it, once: of two who take it at once, one gets the row. */
export function takeInvitation(tx: Queryable, id: InvitationId, email: string, now: Date) {
  return tx.one<InvitationRow>(sql`
    delete from invitations where id = ${id} and email = ${email} and expires_at > ${now} returning ${columns}`);
}

export function pruneInvitations(db: Queryable, now: Date) {
  return db.run(sql`delete from invitations where expires_at <= ${now}`);
}
