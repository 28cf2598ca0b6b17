/** The SQL of domains, always by workspace, except for whether a name belongs to another. */

import type { FaultFinding } from '../../fault.ts';
import type { DomainId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { type Due, fragment, sql, takeDue } from '../../store/sql.ts';
import type { DomainStatus } from './domains.ts';

export type StoredFinding = FaultFinding;

export interface LastCheck {
  readonly at: string;
  readonly findings: readonly StoredFinding[];
}

export interface DomainRow {
  readonly id: DomainId;
  readonly hostname: string;
  readonly status: DomainStatus;
  readonly token: string;
  readonly verifiedAt: Date | null;
  readonly missingSince: Date | null;
  readonly lastCheck: LastCheck | null;
  readonly checks: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const columns = fragment`id, hostname, status, token, verified_at as "verifiedAt", missing_since as "missingSince",
  last_check as "lastCheck", checks, created_at as "createdAt", updated_at as "updatedAt"`;

/** False where the workspace has it already. */
export async function insertDomain(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, hostname, token }: Pick<DomainRow, 'id' | 'hostname' | 'token'>,
  now: Date,
): Promise<boolean> {
  const made = await tx.run(sql`
    insert into domains (workspace_id, id, hostname, status, token, check_at, created_at, updated_at)
    values (${workspaceId}, ${id}, ${hostname}, 'pending', ${token}, ${now}, ${now}, ${now})
    on conflict do nothing`);
  return made === 1;
}

export function findDomain(db: Queryable, workspaceId: WorkspaceId, id: DomainId) {
  return db.one<DomainRow>(sql`
    select ${columns} from domains where workspace_id = ${workspaceId} and id = ${id}`);
}

export function listDomainRows(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<DomainRow>(sql`
    select ${columns} from domains where workspace_id = ${workspaceId} and id < ${page.before}::uuid
    order by id desc limit ${page.limit}`);
}

/**
 * Whose the names are: of those that were verified, the longest counts. Read under `lockNames` by those who verify, so
 * that two cannot both be first.
 */
export function nearestVerified(db: Queryable, names: readonly string[]) {
  return db.one<{ workspaceId: WorkspaceId; id: DomainId; hostname: string }>(sql`
    select workspace_id as "workspaceId", id, hostname from domains
    where status = 'verified' and hostname = any(${names}::text[]) order by length(hostname) desc limit 1`);
}

/** Names are verified one after the other in the whole installation: a name and its parent must not both be first. */
export function lockNames(tx: Queryable) {
  return tx.run(sql`select pg_advisory_xact_lock(7175204402)`);
}

export function setVerified(tx: Queryable, workspaceId: WorkspaceId, id: DomainId, now: Date) {
  return tx.run(sql`
    update domains set status = 'verified', verified_at = ${now}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setChecked(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DomainId,
  seen: {
    readonly status: DomainStatus;
    readonly lastCheck: LastCheck;
    readonly verifiedAt: Date | null;
    readonly missingSince: Date | null;
    readonly checkAt: Date;
  },
  now: Date,
) {
  return tx.run(sql`
    update domains set status = ${seen.status}, last_check = ${JSON.stringify(seen.lastCheck)}::jsonb,
      verified_at = ${seen.verifiedAt}, missing_since = ${seen.missingSince}, check_at = ${seen.checkAt},
      checks = checks + 1, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function deleteDomain(tx: Queryable, workspaceId: WorkspaceId, id: DomainId) {
  return tx.run(sql`delete from domains where workspace_id = ${workspaceId} and id = ${id}`);
}

export function takeDueDomains(db: Queryable, due: Due) {
  return db.rows<{ workspaceId: WorkspaceId; id: DomainId }>(takeDue('domains', 'check_at', due));
}
