/** The SQL of recipients of mail who are no members, always by workspace, by their own token, or to count what they got. */
import type { RecipientId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ConsentStatus } from './notifications.ts';

export interface RecipientRow {
  readonly id: RecipientId;
  readonly email: string;
  readonly status: ConsentStatus;
  readonly askedAt: Date | null;
  readonly asks: number;
}

export function findRecipients(db: Queryable, workspaceId: WorkspaceId, emails: readonly string[]) {
  return db.rows<RecipientRow>(sql`
    select id, email, status, asked_at as "askedAt", asks from notification_recipients
    where workspace_id = ${workspaceId} and email = any(${emails}::text[])`);
}

/** Until the transaction ends nobody else asks: what was counted stays true. */
export function lockAsking(tx: Queryable) {
  return tx.run(sql`select pg_advisory_xact_lock(7175204403)`);
}

/** How often this address was asked since then by anybody, and how many people by this workspace. */
export async function countAsked(tx: Queryable, workspaceId: WorkspaceId, email: string, since: Date) {
  const row = await tx.one<{ ofAddress: number; byWorkspace: number }>(sql`
    select (select count(*)::int from notification_recipients where email = ${email} and asked_at > ${since}) as "ofAddress",
      (select count(*)::int from notification_recipients
        where workspace_id = ${workspaceId} and asked_at > ${since}) as "byWorkspace"`);
  return row ?? { ofAddress: 0, byWorkspace: 0 };
}

/** Its id, whether it was known or not. One who has answered is not asked again. */
export function saveAsked(
  tx: Queryable,
  workspaceId: WorkspaceId,
  row: { readonly id: RecipientId; readonly email: string; readonly askedAt: Date | null },
  now: Date,
) {
  return tx.one<{ id: RecipientId }>(sql`
    insert into notification_recipients as r (workspace_id, id, email, status, asked_at, asks, created_at)
    values (${workspaceId}, ${row.id}, ${row.email}, 'pending', ${row.askedAt}, ${row.askedAt ? 1 : 0}, ${now})
    on conflict (workspace_id, email) do update set asked_at = coalesce(excluded.asked_at, r.asked_at),
      asks = r.asks + excluded.asks
    where r.status = 'pending'
    returning r.id`);
}

/** The workspace that asks; undefined where there is nobody to ask any more. */
export function setToken(db: Queryable, id: RecipientId, hash: Buffer, expiresAt: Date) {
  return db.one<{ workspaceId: WorkspaceId }>(sql`
    update notification_recipients set token_hash = ${hash}, token_expires_at = ${expiresAt}
    where id = ${id} and status = 'pending' returning workspace_id as "workspaceId"`);
}

/** Whether the token was one that counts. It works once. */
export async function takeToken(
  db: Queryable,
  hash: Buffer,
  status: ConsentStatus,
  now: Date,
): Promise<boolean> {
  const taken = await db.run(sql`
    update notification_recipients set status = ${status}, answered_at = ${now}, token_hash = null, token_expires_at = null
    where token_hash = ${hash} and token_expires_at > ${now}`);
  return taken > 0;
}

export async function decline(db: Queryable, id: RecipientId, now: Date): Promise<boolean> {
  const declined = await db.run(sql`
    update notification_recipients set status = 'declined', answered_at = ${now}, token_hash = null, token_expires_at = null
    where id = ${id}`);
  return declined > 0;
}
