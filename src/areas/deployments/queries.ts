/** The SQL of deployments, always by workspace. */
import type {
  AccountId,
  DeploymentId,
  EnvironmentId,
  OperationId,
  ReleaseId,
  ServerId,
  UploadId,
  WorkspaceId,
} from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ReleasedCommit } from '../releases/releases.ts';
import type { DeploymentStatus, DeploymentTrigger, WantedCommit } from './deployments.ts';
import type { KeptProbe } from './kept-probes.ts';

export interface ShownStep {
  readonly name: string;
  readonly status: 'running' | 'done' | 'failed' | 'cancelled';
  readonly startedAt: string;
  readonly finishedAt: string | null;
}

export interface DeploymentRow {
  readonly id: DeploymentId;
  readonly environmentId: EnvironmentId;
  readonly number: number;
  readonly trigger: DeploymentTrigger;
  readonly wanted: WantedCommit;
  readonly commit: ReleasedCommit | null;
  readonly status: DeploymentStatus;
  readonly steps: readonly ShownStep[];
  readonly operationId: OperationId | null;
  readonly serverId: ServerId;
  readonly releaseId: ReleaseId | null;
  readonly imageDigest: string | null;
  readonly rollbackOf: DeploymentId | null;
  /** Null where the commit is one of the project's repository. */
  readonly uploadId: UploadId | null;
  readonly plan: Readonly<Record<string, unknown>> | null;
  readonly probes: readonly KeptProbe[];
  readonly fault: OperationFault | null;
  readonly supersededBy: DeploymentId | null;
  readonly requestedBy: AccountId | null;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export function findDeployment(db: Queryable, workspaceId: WorkspaceId, id: DeploymentId) {
  return db.one<DeploymentRow>(sql`
    select id, environment_id as "environmentId", number, trigger, wanted, commit, status, steps,
      operation_id as "operationId", server_id as "serverId", release_id as "releaseId",
      image_digest as "imageDigest", rollback_of as "rollbackOf", upload_id as "uploadId", plan, probes, fault,
      superseded_by as "supersededBy", requested_by as "requestedBy", queued_at as "queuedAt",
      started_at as "startedAt", finished_at as "finishedAt"
    from deployments where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface LockedDeployment {
  readonly environmentId: EnvironmentId;
  readonly status: DeploymentStatus;
  readonly steps: readonly ShownStep[];
  readonly trigger: DeploymentTrigger;
  readonly operationId: OperationId | null;
  readonly supersededBy: DeploymentId | null;
}

export function lockDeployment(tx: Queryable, workspaceId: WorkspaceId, id: DeploymentId) {
  return tx.one<LockedDeployment>(sql`
    select environment_id as "environmentId", status, steps, trigger, operation_id as "operationId",
      superseded_by as "supersededBy"
    from deployments where workspace_id = ${workspaceId} and id = ${id} for update`);
}

/** Without plans and probes: a page of them could be large. */
export function listDeployments(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<DeploymentRow>(sql`
    select id, environment_id as "environmentId", number, trigger, wanted, commit, status, steps,
      operation_id as "operationId", server_id as "serverId", release_id as "releaseId",
      image_digest as "imageDigest", rollback_of as "rollbackOf", upload_id as "uploadId", null as plan, '[]'::jsonb as probes, fault,
      superseded_by as "supersededBy", requested_by as "requestedBy", queued_at as "queuedAt",
      started_at as "startedAt", finished_at as "finishedAt"
    from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId}
      and id < ${page.before}::uuid
    order by id desc limit ${page.limit}`);
}

/** The newest of each environment. */
export function listNewest(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentIds: readonly EnvironmentId[],
) {
  return db.rows<
    Pick<DeploymentRow, 'id' | 'environmentId' | 'number' | 'status' | 'queuedAt' | 'finishedAt'> & {
      readonly message: string | null;
    }
  >(sql`
    select newest.* from unnest(${[...environmentIds]}::uuid[]) as of (environment_id)
    cross join lateral (
      select id, environment_id as "environmentId", number, status, commit->>'message' as message,
        queued_at as "queuedAt", finished_at as "finishedAt"
      from deployments where workspace_id = ${workspaceId} and environment_id = of.environment_id
      order by id desc limit 1
    ) newest`);
}

/** Whether the environment's newest deployment was of that commit, and has ended without success. */
export async function isRetry(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  sha: string,
): Promise<boolean> {
  const newest = await tx.one<{ isUnlucky: boolean }>(sql`
    select status in ('failed', 'cancelled') and coalesce(commit->>'sha', wanted->>'sha') = ${sha} as "isUnlucky"
    from deployments where workspace_id = ${workspaceId} and environment_id = ${environmentId}
    order by id desc limit 1`);
  return newest?.isUnlucky === true;
}

/** Who goes back to a release of an upload needs the upload, too. In the order of their making; the environment is locked, so no number is given twice. */
export async function insertDeployment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  deployment: Pick<
    DeploymentRow,
    'id' | 'environmentId' | 'trigger' | 'wanted' | 'serverId' | 'rollbackOf' | 'uploadId' | 'requestedBy'
  >,
  now: Date,
): Promise<void> {
  const { id, environmentId, trigger, wanted, serverId, rollbackOf, uploadId, requestedBy } = deployment;
  await tx.run(sql`
    insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, status, server_id, rollback_of,
      upload_id, requested_by, queued_at)
    select ${workspaceId}, ${id}, ${environmentId}, coalesce(max(number), 0) + 1, ${trigger},
      ${JSON.stringify(wanted)}::jsonb, 'queued', ${serverId}, ${rollbackOf},
      coalesce(${uploadId}::uuid, (select upload_id from deployments where workspace_id = ${workspaceId} and id = ${rollbackOf})),
      ${requestedBy}, ${now}
    from deployments where environment_id = ${environmentId}`);
}

export function setOperation(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  operationId: OperationId,
) {
  return tx.run(sql`
    update deployments set operation_id = ${operationId} where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Those that wait in an environment's queue. */
export function listQueued(tx: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return tx.rows<{ id: DeploymentId; operationId: OperationId }>(sql`
    select id, operation_id as "operationId" from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and status = 'queued'
      and operation_id is not null order by number`);
}

/** The releases that were live, the newest first, of as many deployments as anyone goes back to. */
export function listLiveReleases(db: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return db.rows<{ releaseId: ReleaseId }>(sql`
    select release_id as "releaseId" from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and status = 'succeeded'
      and release_id is not null order by number desc limit 200`);
}

/** Everything that has not ended, the one at work first. */
export function listUnfinished(tx: Queryable, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return tx.rows<{ id: DeploymentId; operationId: OperationId }>(sql`
    select id, operation_id as "operationId" from deployments
    where workspace_id = ${workspaceId} and environment_id = ${environmentId} and finished_at is null
      and operation_id is not null order by number`);
}

export function setSupersededBy(tx: Queryable, workspaceId: WorkspaceId, id: DeploymentId, by: DeploymentId) {
  return tx.run(sql`
    update deployments set superseded_by = ${by} where workspace_id = ${workspaceId} and id = ${id}`);
}

export interface Course {
  readonly status: DeploymentStatus;
  readonly steps: readonly ShownStep[];
  readonly fault: OperationFault | null;
}

/** A terminal state is final, and its inputs are needed no more. One that ends while it waits has never begun. */
export function setCourse(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  course: Course,
  now: Date,
) {
  const fault = course.fault === null ? null : JSON.stringify(course.fault);
  return tx.run(sql`
    update deployments set status = ${course.status}, steps = ${JSON.stringify(course.steps)}::jsonb,
      fault = ${fault}::jsonb,
      started_at = case when ${course.status} in ('cancelled', 'superseded') then started_at else coalesce(started_at, ${now}) end,
      finished_at = case when ${course.status} in ('succeeded', 'failed', 'cancelled', 'superseded') then ${now}::timestamptz end,
      inputs_sealed = case when ${course.status} in ('succeeded', 'failed', 'cancelled', 'superseded') then null else inputs_sealed end
    where workspace_id = ${workspaceId} and id = ${id} and finished_at is null`);
}

export function setCommit(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  commit: ReleasedCommit,
  serverId: ServerId,
) {
  return tx.run(sql`
    update deployments set commit = ${JSON.stringify(commit)}::jsonb, server_id = ${serverId}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setPlan(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  plan: Readonly<Record<string, unknown>>,
) {
  return tx.run(sql`
    update deployments set plan = ${JSON.stringify(plan)}::jsonb where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setInputs(tx: Queryable, workspaceId: WorkspaceId, id: DeploymentId, inputsSealed: Buffer) {
  return tx.run(sql`
    update deployments set inputs_sealed = ${inputsSealed} where workspace_id = ${workspaceId} and id = ${id}`);
}

export function findInputs(db: Queryable, workspaceId: WorkspaceId, id: DeploymentId) {
  return db.one<{ inputsSealed: Buffer | null }>(sql`
    select inputs_sealed as "inputsSealed" from deployments where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setRelease(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  releaseId: ReleaseId,
  imageDigest: string,
) {
  return tx.run(sql`
    update deployments set release_id = ${releaseId}, image_digest = ${imageDigest}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setProbes(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: DeploymentId,
  probes: readonly KeptProbe[],
) {
  return db.run(sql`
    update deployments set probes = ${JSON.stringify(probes)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
}
