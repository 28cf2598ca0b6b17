/** The SQL of a project's analysis. What it writes is of the analysis that is under way, or of none. */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { AnalysisId, OperationId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { PrunedOperation } from '../../operations/definition.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { AnalysedCommit, AnalysisStatus } from './queries.ts';

/** A new one takes the place of the last; its result stays until there is another. */
export function beginAnalysis(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  { analysisId, operationId }: { analysisId: AnalysisId; operationId: OperationId },
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update projects set analysis_id = ${analysisId}, analysis_operation = ${operationId},
      analysis_status = 'queued', analysis_fault = null, updated_at = ${now},
      status = case when status = 'active' then 'active' else 'analyzing' end
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setAnalysisStatus(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  operationId: OperationId,
  status: AnalysisStatus,
  fault: OperationFault | null,
): Promise<number> {
  const faultText = fault === null ? null : JSON.stringify(fault);
  return tx.run(sql`
    update projects set analysis_status = ${status}, analysis_fault = ${faultText}::jsonb, updated_at = now(),
      status = case when status = 'active' then 'active' when ${status} = 'succeeded' then 'ready'
        when ${status} = 'failed' then 'failed' else 'analyzing' end
    where workspace_id = ${workspaceId} and id = ${id} and analysis_operation = ${operationId}`);
}

export function setAnalysisResult(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  operationId: OperationId,
  commit: AnalysedCommit,
  result: AnalysisResult,
): Promise<number> {
  return tx.run(sql`
    update projects set analysis_commit = ${JSON.stringify(commit)}::jsonb,
      analysis_result = ${JSON.stringify(result)}::jsonb, updated_at = now()
    where workspace_id = ${workspaceId} and id = ${id} and analysis_operation = ${operationId}`);
}

/** Of analyses that were long ago: the project names none then. */
export function forgetOperations(tx: Queryable, gone: readonly PrunedOperation[]): Promise<number> {
  const ours = gone.flatMap(({ subjectId, ...each }) => (subjectId === null ? [] : [{ ...each, subjectId }]));
  return tx.run(sql`
    update projects p set analysis_operation = null
    from unnest(${ours.map((each) => each.workspaceId)}::uuid[], ${ours.map((each) => each.subjectId)}::uuid[],
      ${ours.map((each) => each.id)}::uuid[]) as gone (workspace_id, id, operation_id)
    where p.workspace_id = gone.workspace_id and p.id = gone.id and p.analysis_operation = gone.operation_id`);
}
