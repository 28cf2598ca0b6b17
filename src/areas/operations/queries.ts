/** What operations show of themselves, by workspace. */
import type { OperationId, WorkspaceId } from '../../ids.ts';
import type { StepStatus } from '../../operations/journal.ts';
import type { OperationFault, OperationState } from '../../operations/operations.ts';
import type { Sight } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export interface OperationRow {
  readonly id: OperationId;
  readonly kind: string;
  readonly state: OperationState;
  readonly step: string | null;
  readonly progress: { fraction: number; text: string | null } | null;
  readonly result: unknown;
  readonly fault: OperationFault | null;
  readonly requestedBy: string | null;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequestedAt: Date | null;
}

export interface StepRow {
  readonly name: string;
  readonly status: StepStatus;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

export function findOperation(db: Queryable, workspaceId: WorkspaceId, id: OperationId) {
  return db.one<OperationRow>(sql`
    select id, kind, state, step, progress, result, fault, requested_by as "requestedBy",
      subject_type as "subjectType", subject_id as "subjectId", created_at as "createdAt",
      started_at as "startedAt", finished_at as "finishedAt", cancel_requested_at as "cancelRequestedAt"
    from operations where workspace_id = ${workspaceId} and id = ${id}`);
}

export function findSteps(db: Queryable, workspaceId: WorkspaceId, id: OperationId) {
  return db.rows<StepRow>(sql`
    select name, status, attempt, started_at as "startedAt", finished_at as "finishedAt"
    from operation_steps where workspace_id = ${workspaceId} and operation_id = ${id} order by place`);
}

export function listOperations(
  db: Queryable,
  { workspaceId, projects }: Sight,
  page: { before: string; limit: number },
): Promise<OperationRow[]> {
  return db.rows<OperationRow>(sql`
    select id, kind, state, step, progress, result, fault, requested_by as "requestedBy",
      subject_type as "subjectType", subject_id as "subjectId", created_at as "createdAt",
      started_at as "startedAt", finished_at as "finishedAt", cancel_requested_at as "cancelRequestedAt"
    from operations
    where workspace_id = ${workspaceId} and (${projects}::uuid[] is null or project_id = any(${projects}::uuid[]))
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}
