/** The SQL of the audit log, read by workspace. */
import type { AccountId, ApiTokenId, AuditEntryId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export interface EntryRow {
  readonly id: AuditEntryId;
  readonly at: Date;
  readonly actorKind: 'person' | 'token' | 'push' | 'schedule' | 'service';
  readonly accountId: AccountId | null;
  readonly tokenId: ApiTokenId | null;
  readonly actorName: string | null;
  readonly action: string;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly changes: Record<string, unknown> | null;
  readonly ip: string | null;
  readonly requestId: string | null;
}

export interface AuditFilter {
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly action: string | null;
  readonly subject: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
}

export function listEntries(
  db: Queryable,
  workspaceId: WorkspaceId,
  { actorId, actorName, action, subject, from, to }: AuditFilter,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<EntryRow>(sql`
    select id, at, actor_kind as "actorKind", account_id as "accountId", token_id as "tokenId",
      actor_name as "actorName", action, subject_type as "subjectType", subject_id as "subjectId", changes, ip,
      request_id as "requestId"
    from audit_entries
    where workspace_id = ${workspaceId} and id < ${page.before}::uuid
      and (${actorId}::uuid is null or account_id = ${actorId}::uuid or token_id = ${actorId}::uuid)
      and (${actorName}::text is null or lower(actor_name) = ${actorName} or actor_kind = ${actorName})
      and (${action}::text is null or action = ${action})
      and (${subject}::text is null or subject_id = ${subject} or subject_type = ${subject})
      and (${from}::timestamptz is null or at >= ${from}) and (${to}::timestamptz is null or at < ${to})
    order by id desc limit ${page.limit}`);
}
