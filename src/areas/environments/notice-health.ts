/** Tells that an environment has become worse, and that it is well again: once each, whoever found out. */
import { raiseNotice } from '../../events/notices.ts';
import type { WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import type { EnvironmentState } from './environment-state.ts';
import type { EnvironmentStatus } from './environments.ts';

/** In the transaction that changes its status, with what it was before. One that is known to be down is no news. */
export async function noticeHealth(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, projectId, name, status, problem }: EnvironmentState,
  after: { readonly status: EnvironmentStatus; readonly problem: OperationFault | null },
  now: Date,
): Promise<void> {
  const wasDegraded = status === 'degraded' || problem !== null;
  const isNews = after.status === 'degraded' ? !wasDegraded : after.status === 'running' && wasDegraded;
  if (!isNews) return;
  const kind = after.status === 'degraded' ? 'environment_degraded' : 'environment_recovered';
  await raiseNotice(tx, {
    workspaceId,
    kind,
    key: `${kind}:${id}:${now.toISOString()}`,
    projectId,
    environmentId: id,
    subject: { type: 'environment', id },
    data: { environmentName: name, fault: after.problem },
  });
}
