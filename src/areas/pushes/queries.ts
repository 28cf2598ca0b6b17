/** The SQL of hooks and deliveries. The hook's id comes from outside and is looked up in all workspaces. */
import type { DeliveryId, EnvironmentId, HookId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { Reason } from './decide.ts';

export interface HookRow {
  readonly id: HookId;
  readonly workspaceId: WorkspaceId;
  readonly projectId: ProjectId;
  readonly secretSealed: Buffer;
}

export function findHook(db: Queryable, id: HookId) {
  return db.one<HookRow>(sql`
    select id, workspace_id as "workspaceId", project_id as "projectId", secret_sealed as "secretSealed"
    from project_hooks where id = ${id}`);
}

export interface ProjectHookRow {
  readonly id: HookId;
  readonly externalId: string | null;
  readonly problem: { readonly code: string; readonly message: string; readonly hint: string | null } | null;
  readonly lastHeardAt: Date | null;
  readonly updatedAt: Date;
}

export function findProjectHook(db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  return db.one<ProjectHookRow>(sql`
    select id, external_id as "externalId", problem, last_heard_at as "lastHeardAt", updated_at as "updatedAt"
    from project_hooks where workspace_id = ${workspaceId} and project_id = ${projectId}`);
}

/** The address stays when the secret is replaced: it may be pasted in somewhere. */
export function putHook(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  id: HookId,
  secretSealed: Buffer,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    insert into project_hooks (workspace_id, project_id, id, secret_sealed, created_at, updated_at)
    values (${workspaceId}, ${projectId}, ${id}, ${secretSealed}, ${now}, ${now})
    on conflict (workspace_id, project_id) do update set secret_sealed = excluded.secret_sealed,
      updated_at = excluded.updated_at`);
}

export function setHookPlace(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  externalId: string | null,
  problem: ProjectHookRow['problem'],
): Promise<number> {
  return tx.run(sql`
    update project_hooks set external_id = ${externalId},
      problem = ${problem === null ? null : JSON.stringify(problem)}::jsonb
    where workspace_id = ${workspaceId} and project_id = ${projectId}`);
}

export function setHeard(tx: Queryable, id: HookId, now: Date): Promise<number> {
  return tx.run(sql`update project_hooks set last_heard_at = ${now} where id = ${id}`);
}

export function deleteHook(tx: Queryable, workspaceId: WorkspaceId, projectId: ProjectId): Promise<number> {
  return tx.run(sql`
    delete from project_hooks where workspace_id = ${workspaceId} and project_id = ${projectId}`);
}

export interface EnvironmentOutcome {
  readonly environmentId: EnvironmentId;
  readonly name: string;
  readonly outcome: 'deployed' | 'ignored';
  readonly reason: Reason;
}

export interface DeliveryRow {
  readonly id: DeliveryId;
  readonly deliveryId: string | null;
  readonly via: 'webhook' | 'poll';
  readonly event: string;
  readonly branch: string | null;
  readonly commitSha: string | null;
  readonly outcome: 'deployed' | 'ignored' | 'rejected';
  readonly reason: Reason;
  readonly message: string;
  readonly environments: readonly EnvironmentOutcome[];
  readonly receivedAt: Date;
}

/** False where this delivery is known already. */
export async function insertDelivery(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  row: DeliveryRow,
): Promise<boolean> {
  const { id, deliveryId, via, event, branch, commitSha, outcome, reason, message, environments } = row;
  const made = await tx.run(sql`
    insert into webhook_deliveries (workspace_id, project_id, id, delivery_id, via, event, branch, commit_sha, outcome,
      reason, message, environments, received_at)
    values (${workspaceId}, ${projectId}, ${id}, ${deliveryId}, ${via}, ${event}, ${branch}, ${commitSha}, ${outcome},
      ${reason}, ${message}, ${JSON.stringify(environments)}::jsonb, ${row.receivedAt})
    on conflict do nothing`);
  return made === 1;
}

export async function isKnownDelivery(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  deliveryId: string,
): Promise<boolean> {
  const found = await db.one(sql`
    select 1 from webhook_deliveries
    where workspace_id = ${workspaceId} and project_id = ${projectId} and delivery_id = ${deliveryId}`);
  return found !== undefined;
}

/** Whoever floods us fills his own list, and no more than that. */
export function deleteOldDeliveries(
  tx: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  { isRejected, most }: { readonly isRejected: boolean; readonly most: number },
) {
  return tx.run(sql`
    delete from webhook_deliveries
    where workspace_id = ${workspaceId} and project_id = ${projectId} and (outcome = 'rejected') = ${isRejected} and id < (
      select id from webhook_deliveries
      where workspace_id = ${workspaceId} and project_id = ${projectId} and (outcome = 'rejected') = ${isRejected}
      order by id desc offset ${most - 1} limit 1)`);
}

export function listDeliveries(
  db: Queryable,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  page: { before: string; limit: number },
) {
  return db.rows<DeliveryRow>(sql`
    select id, delivery_id as "deliveryId", via, event, branch, commit_sha as "commitSha", outcome, reason, message,
      environments, received_at as "receivedAt"
    from webhook_deliveries
    where workspace_id = ${workspaceId} and project_id = ${projectId}
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}
