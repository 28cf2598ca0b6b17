/** Where a project's code comes from, for those who read it or speak to its provider. */
import { Fault } from '../../fault.ts';
import type { ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { deployKeyPlace, projectNotFound, type RepositoryAccess } from './projects.ts';
import * as queries from './queries.ts';
import type { ReadableRepository } from './read-repository.ts';

export async function readSource(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
): Promise<Omit<queries.SourceRow, 'deployKeySealed'>> {
  const row = await queries.findSource(db, workspaceId, id);
  if (!row) throw projectNotFound();
  const { deployKeySealed: _, ...source } = row;
  return source;
}

/** The same, locked until the transaction ends. */
export async function lockSource(tx: Queryable, workspaceId: WorkspaceId, id: ProjectId): Promise<void> {
  if (!(await queries.lockProject(tx, workspaceId, id))) throw projectNotFound();
}

/** With the key that opens it, where it has one. */
export async function readableRepository(
  ctx: RepositoryAccess,
  workspaceId: WorkspaceId,
  id: ProjectId,
): Promise<ReadableRepository> {
  const row = await queries.findSource(ctx.db, workspaceId, id);
  if (!row) throw projectNotFound();
  const { deployKeySealed, ...source } = row;
  if (row.repositoryKind !== 'url' && row.providerId === null) {
    throw new Fault(
      'provider_rejected',
      'The Git account that this repository was read with is disconnected.',
      { hint: 'Connect it again and choose the repository anew.' },
    );
  }
  if (deployKeySealed === null) return source;
  const deployKey = await ctx.sealer.open(ctx.db, deployKeyPlace(workspaceId, id), deployKeySealed);
  return { ...source, deployKey };
}
