/** What arrived for a project, and what became of it. */
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Queryable } from '../../store/database.ts';
import { readSource } from '../projects/read-source.ts';
import * as queries from './queries.ts';

export async function listDeliveries(db: Queryable, workspaceId: WorkspaceId, id: ProjectId, page: Page) {
  await readSource(db, workspaceId, id);
  const { before, limit } = page;
  const rows = await queries.listDeliveries(db, workspaceId, id, { before, limit: limit + 1 });
  return page.answer(rows, ({ receivedAt, environments, ...rest }) => ({
    ...rest,
    environments: [...environments],
    receivedAt: receivedAt.toISOString(),
  }));
}
