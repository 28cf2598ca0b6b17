/**
 * Operations over the API: seen, followed and cancelled by those in their workspace. Owns no rule of how they
 * run (`src/operations` does), and shows nothing of how they are leased.
 */
import { Fault } from '../../fault.ts';
import type { OperationId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Sight } from '../../principal.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';

export async function readOperation(db: Queryable, workspaceId: WorkspaceId, id: OperationId) {
  const row = await queries.findOperation(db, workspaceId, id);
  if (!row) throw new Fault('not_found', 'No such operation.');
  return show(row, await queries.findSteps(db, workspaceId, id));
}

export type StartedOperation = Answer<Awaited<ReturnType<typeof readOperation>>>;

/** The answer to whatever starts an operation: 202, with it and where it is. In the transaction that stored it. */
export async function answerStarted(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: OperationId,
  saveResponse: SaveResponse,
): Promise<StartedOperation> {
  const body = await readOperation(tx, workspaceId, id);
  return saveResponse(tx, { status: 202, location: `/api/v1/operations/${id}`, body });
}

export async function listOperations(db: Queryable, sight: Sight, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listOperations(db, sight, { before, limit: limit + 1 });
  return page.answer(rows, (row) => show(row, undefined));
}

function show(row: queries.OperationRow, steps: readonly queries.StepRow[] | undefined) {
  const { subjectType, subjectId, createdAt, startedAt, finishedAt, cancelRequestedAt, state, ...rest } = row;
  const cancelling = cancelRequestedAt !== null && finishedAt === null;
  return {
    ...rest,
    status: cancelling ? ('cancelling' as const) : state,
    subject: subjectType && subjectId ? { type: subjectType, id: subjectId } : null,
    createdAt: createdAt.toISOString(),
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    ...(steps && {
      steps: steps.map((step) => ({
        ...step,
        startedAt: step.startedAt.toISOString(),
        finishedAt: step.finishedAt?.toISOString() ?? null,
      })),
    }),
  };
}
