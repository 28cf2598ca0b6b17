/** The end of an environment: its row, and with it its variables, releases and deployments. Nothing of it runs any more. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './state-queries.ts';

/** False where it is gone already. */
export async function deleteEnvironment(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
): Promise<boolean> {
  return (await queries.deleteEnvironment(tx, workspaceId, id)) > 0;
}
