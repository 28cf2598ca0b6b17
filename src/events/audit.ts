/**
 * The audit log: who changed what. An entry is written in the transaction of the change, once for a request, and once for
 * each operation that nobody's request started. It is never changed: the database refuses that.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type AccountId, type ApiTokenId, type AuditEntryId, newId, type WorkspaceId } from '../ids.ts';
import { isNoting } from '../store/change-note.ts';
import type { Queryable } from '../store/database.ts';
import { inBatches } from '../store/in-batches.ts';
import { sql } from '../store/sql.ts';

export type Actor =
  | { readonly kind: 'person'; readonly accountId: AccountId }
  | { readonly kind: 'token'; readonly accountId: AccountId; readonly tokenId: ApiTokenId }
  | { readonly kind: 'push' | 'schedule'; readonly name: string }
  | { readonly kind: 'service' };

export interface Subject {
  readonly type: string;
  readonly id: string;
}

export interface NewEntry {
  readonly actor: Actor;
  readonly action: string;
  readonly subject?: Subject | undefined;
  readonly changes?: Readonly<Record<string, unknown>> | undefined;
  readonly ip?: string | undefined;
  readonly requestId?: string | undefined;
}

/** `workspaceId` null belongs to no workspace. */
export async function writeEntry(
  tx: Queryable,
  workspaceId: WorkspaceId | null,
  { actor, action, subject, changes, ip, requestId }: NewEntry,
): Promise<void> {
  const accountId = 'accountId' in actor ? actor.accountId : null;
  const tokenId = 'tokenId' in actor ? actor.tokenId : null;
  const name = 'name' in actor ? actor.name : null;
  await tx.run(sql`
    insert into audit_entries (id, workspace_id, at, actor_kind, account_id, token_id, actor_name, action, subject_type,
      subject_id, changes, ip, request_id)
    values (${newId<AuditEntryId>()}, ${workspaceId}, clock_timestamp(), ${actor.kind}, ${accountId}, ${tokenId},
      coalesce((select t.name from api_tokens t where t.id = ${tokenId}),
        (select a.email from accounts a where a.id = ${accountId}), ${name}),
      ${action}, ${subject?.type ?? null}, ${subject?.id ?? null}, ${changes ? JSON.stringify(changes) : null}::jsonb,
      ${ip ?? null}, ${requestId ?? null})`);
}

/** What somebody does with their account is in the log of each workspace that they are in. */
export async function writeAccountEntry(tx: Queryable, accountId: AccountId, entry: NewEntry): Promise<void> {
  const rows = await tx.rows<{ id: WorkspaceId }>(sql`
    select workspace_id as id from memberships where account_id = ${accountId} order by created_at`);
  for (const id of rows.length > 0 ? rows.map((row) => row.id) : [null]) await writeEntry(tx, id, entry);
}

const acting = new AsyncLocalStorage<Actor>();

/** Whoever does the work, where no request does. */
export function actingAs<T>(actor: Actor, work: () => Promise<T>): Promise<T> {
  return acting.run(actor, work);
}

/** Of an operation that was started: a request that starts one has an entry of its own. */
export async function noteOperation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { kind, subject }: { readonly kind: string; readonly subject?: Subject },
): Promise<void> {
  if (isNoting()) return;
  const actor = acting.getStore() ?? { kind: 'service' };
  await writeEntry(tx, workspaceId, { actor, action: kind, subject });
}

/** The setting is in days, and never less than the thirty that the database keeps. */
export function pruneAudit(db: Queryable, before: Date): Promise<number> {
  return inBatches(async () => ({
    last: null,
    count: await db.run(sql`
      delete from audit_entries where id = any(array(
        select id from audit_entries where at < ${before} order by at limit 5000))`),
  }));
}
