/**
 * The analysis of a project as a durable operation: fetch the commit into the mirror, look at its files, keep what was
 * found. Killed at any point it begins that step again; what it tells goes on in the same stream.
 */
import { minute } from '../../clock.ts';
import type { AnalysisEvent, News } from '../../events/event-kinds.ts';
import { appendEvents, type FeedKey } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type AnalysisId,
  newId,
  type OperationId,
  type ProjectId,
  type WorkspaceId,
} from '../../ids.ts';
import { defineOperation, type OperationKind, type StateChange } from '../../operations/definition.ts';
import { enqueueOperation, hasUnfinishedAbout, type OperationFault } from '../../operations/operations.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import * as analysis from './analysis-queries.ts';
import { findingsOf } from './findings.ts';
import {
  mirrorKeyOf,
  type ProjectsContext,
  projectNotFound,
  publishProjectEvent,
  type ShowProject,
  sourceOf,
} from './projects.ts';
import type { AnalysedCommit, AnalysisStatus } from './queries.ts';
import * as queries from './queries.ts';
import { analyseCommit, fetchCommit } from './read-repository.ts';
import { readableRepository } from './read-source.ts';

const analysisKind = 'project_analysis';

/** In the caller's transaction. A project is analysed once at a time. */
export async function startAnalysis(
  tx: Queryable,
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  requestedBy: AccountId,
): Promise<OperationId> {
  if (await hasUnfinishedAbout(tx, projectId, analysisKind)) {
    throw new Fault('analysis_running', 'The repository is being analysed.', {
      hint: 'Wait for the analysis to end, or cancel its operation.',
    });
  }
  const analysisId = newId<AnalysisId>();
  const operationId = await enqueueOperation(tx, ctx.queue, {
    workspaceId,
    kind: analysisKind,
    input: { projectId, analysisId },
    requestedBy,
    subject: { type: 'project', id: projectId },
  });
  await analysis.beginAnalysis(tx, workspaceId, projectId, { analysisId, operationId }, ctx.clock.now());
  await appendEvents<AnalysisEvent>(tx, { workspaceId, feedId: analysisId }, [
    { kind: 'status', data: { status: 'queued' } },
  ]);
  return operationId;
}

/** The analysis again: of what the branch is by now. */
export function retryAnalysis<Shown>(
  ctx: ProjectsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  accountId: AccountId,
  show: ShowProject<Shown>,
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  return ctx.db.transaction(async (tx) => {
    if (!(await queries.lockProject(tx, workspaceId, id))) throw projectNotFound();
    await startAnalysis(tx, ctx, workspaceId, id, accountId);
    const body = await show(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 202, location: `/api/v1/projects/${id}`, body });
    await publishProjectEvent(tx, workspaceId, id, { reason: 'analysis', status: 'queued' });
    return answer;
  });
}

/** The feed of the newest analysis of a project. */
export async function followAnalysis(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
): Promise<{ readonly feed: FeedKey; readonly isOver: boolean }> {
  const project = await queries.findProject(db, workspaceId, id);
  if (!project?.analysisId) throw projectNotFound();
  const isOver = project.analysisStatus === 'succeeded' || project.analysisStatus === 'failed';
  return { feed: { workspaceId, feedId: project.analysisId }, isOver };
}

interface Input {
  readonly projectId: ProjectId;
  readonly analysisId: AnalysisId;
}

export function analysisOperation(ctx: ProjectsContext): OperationKind {
  return defineOperation<Input>({
    kind: analysisKind,
    readInput: (stored) => {
      const { projectId, analysisId } = Object(stored);
      if (typeof projectId !== 'string' || typeof analysisId !== 'string')
        throw new Error('no project to analyse');
      return { projectId: projectId as ProjectId, analysisId: analysisId as AnalysisId };
    },
    onStateChange: follow,
    onPrune: analysis.forgetOperations,
    steps: [
      {
        name: 'fetch',
        deadlineMs: 15 * minute,
        retry: { attempts: 3, firstMs: 2_000, maxMs: 20_000, when: isTransient },
        undo: { none: 'A mirror that is more up to date does no harm.' },
        run: async ({ projectId }, { workspaceId, signal, progress }) => {
          const repository = await readableRepository(ctx, workspaceId, projectId);
          ctx.analyst.warm();
          const commit = await fetchCommit(ctx, workspaceId, repository, signal, progress);
          return { ...commit };
        },
      },
      {
        name: 'analyse',
        // With the wait for its turn: an analysis itself is ended much earlier.
        deadlineMs: 15 * minute,
        undo: { none: 'Nothing outside of the database was changed.' },
        run: async ({ projectId, analysisId }, { workspaceId, operationId, outputs, signal }) => {
          const repository = await readableRepository(ctx, workspaceId, projectId);
          const commit = readCommit(outputs.get('fetch'));
          // Another instance may have fetched it, into its own mirror; one that is here costs nothing.
          const source = await sourceOf(ctx, workspaceId, repository);
          const key = mirrorKeyOf(workspaceId, repository.cloneUrl);
          await (await ctx.mirrors()).fetch(key, source, { want: { sha: commit.sha }, signal });
          const result = await analyseCommit(ctx, workspaceId, repository, commit.sha, signal);
          await ctx.db.transaction(async (tx) => {
            const stored = await analysis.setAnalysisResult(
              tx,
              workspaceId,
              projectId,
              operationId,
              commit,
              result,
            );
            if (stored === 0) throw projectNotFound();
            const found = findingsOf(result).map((data) => ({ kind: 'finding', data }) as const);
            await appendEvents<AnalysisEvent>(tx, { workspaceId, feedId: analysisId }, found);
          });
          return { sha: commit.sha };
        },
      },
    ],
  });
}

async function follow(
  tx: Queryable,
  { operationId, workspaceId, input }: { operationId: OperationId; workspaceId: WorkspaceId; input: Input },
  change: StateChange,
): Promise<void> {
  const { projectId, analysisId } = input;
  const { status, fault } = statusOf(change);
  const touched = await analysis.setAnalysisStatus(tx, workspaceId, projectId, operationId, status, fault);
  const data = { status, ...(fault && { fault }) };
  const isOver = change.state !== 'running';
  const events: News<AnalysisEvent>[] = [{ kind: 'status', data }];
  if (isOver) events.push({ kind: 'end', data });
  await appendEvents<AnalysisEvent>(tx, { workspaceId, feedId: analysisId }, events);
  if (touched > 0) await publishProjectEvent(tx, workspaceId, projectId, { reason: 'analysis', status });
}

function statusOf(change: StateChange): { status: AnalysisStatus; fault: OperationFault | null } {
  if (change.state === 'running')
    return { status: change.step === 'analyse' ? 'analyzing' : 'fetching', fault: null };
  if (change.state === 'succeeded') return { status: 'succeeded', fault: null };
  return { status: 'failed', fault: change.fault ?? wasCancelled };
}

const wasCancelled: OperationFault = {
  code: 'cancelled',
  step: null,
  message: 'The analysis was cancelled.',
  hint: 'Start it again with POST /projects/:id/retry-analysis.',
  evidence: null,
};

/** A provider that is down for a moment is asked again; a refusal is an answer. */
function isTransient(error: unknown): boolean {
  const codes = ['git_failed', 'provider_unreachable', 'provider_failed', 'egress_failed'];
  return error instanceof Fault && codes.includes(error.code);
}

function readCommit(stored: unknown): AnalysedCommit {
  const { sha, message, author, authoredAt, branch } = Object(stored);
  const texts = { sha, message, author, authoredAt, branch };
  for (const [name, value] of Object.entries(texts)) {
    if (typeof value !== 'string') throw new Error(`the fetched commit has no ${name}`);
  }
  return texts;
}
