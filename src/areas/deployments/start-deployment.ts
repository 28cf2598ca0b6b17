/** A deployment that a person asks for: of a branch, a commit, an upload, or a release that was live before. */
import { Fault } from '../../fault.ts';
import type { AccountId, DeploymentId, EnvironmentId, UploadId, WorkspaceId } from '../../ids.ts';
import { cancelOperation } from '../../operations/operations.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { requireEnvironment } from '../environments/environment-state.ts';
import { branchHead } from '../projects/branch-head.ts';
import type { DeploymentsContext, DeploymentTrigger, WantedCommit } from './deployments.ts';
import * as queries from './queries.ts';
import { findIn, readDeployment } from './read-deployments.ts';
import { requestDeployment } from './request-deployment.ts';
import { nothingThere } from './steps/fetch.ts';
import { findUploadOf } from './uploads/upload-queries.ts';

type Shown = Awaited<ReturnType<typeof readDeployment>>;

export interface Asked {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly requestedBy: AccountId;
}

export async function startDeployment(
  ctx: DeploymentsContext,
  asked: Asked,
  input: { readonly commit?: string; readonly branch?: string },
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const { commit, branch } = input;
  if (commit !== undefined && branch !== undefined) {
    throw new Fault('invalid_input', 'It is not clear what is to be deployed.', {
      errors: [{ path: 'branch', message: 'must not be given together with `commit`' }],
    });
  }
  const wanted: WantedCommit | undefined =
    commit !== undefined ? { sha: commit, branch: null } : branch !== undefined ? { branch } : undefined;
  // One that is named may be misspelled; the environment's own was looked for when it was set.
  if (branch !== undefined) {
    const { workspaceId, environmentId } = asked;
    const { projectId } = await requireEnvironment(ctx.db, workspaceId, environmentId);
    await branchHead(ctx, workspaceId, projectId, branch);
  }
  const { workspaceId, environmentId } = asked;
  const uploadId =
    commit === undefined ? undefined : await findUploadOf(ctx.db, workspaceId, environmentId, commit);
  return start(
    ctx,
    asked,
    'manual',
    { ...(wanted && { wanted }), ...(uploadId && { uploadId }) },
    saveResponse,
  );
}

export async function startRollback(
  ctx: DeploymentsContext,
  asked: Asked,
  id: DeploymentId,
  variables: 'then' | 'now',
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const { releaseId, status } = await findIn(ctx.db, asked.workspaceId, asked.environmentId, id);
  if (releaseId === null || status !== 'succeeded') throw nothingThere();
  return start(ctx, asked, 'rollback', { wanted: { release: id, variables } }, saveResponse);
}

export function start(
  ctx: DeploymentsContext,
  asked: Asked,
  trigger: DeploymentTrigger,
  { wanted, uploadId }: { readonly wanted?: WantedCommit; readonly uploadId?: UploadId },
  saveResponse: SaveResponse,
): Promise<Answer<Shown>> {
  const { workspaceId, environmentId } = asked;
  return ctx.db.transaction(async (tx) => {
    const isRetry =
      trigger === 'manual' &&
      wanted !== undefined &&
      'sha' in wanted &&
      (await queries.isRetry(tx, workspaceId, environmentId, wanted.sha));
    const what = { ...(wanted && { wanted }), ...(uploadId && { uploadId }) };
    const request = { ...asked, trigger: isRetry ? 'retry' : trigger, ...what };
    const id = await requestDeployment(tx, ctx, request);
    const body = await readDeployment(tx, workspaceId, environmentId, id);
    const location = `/api/v1/environments/${environmentId}/deployments/${id}`;
    return saveResponse(tx, { status: 202, location, body });
  });
}

export async function cancelDeployment(
  ctx: DeploymentsContext,
  { workspaceId, environmentId }: Pick<Asked, 'workspaceId' | 'environmentId'>,
  id: DeploymentId,
): Promise<Shown> {
  const { operationId, finishedAt, status } = await findIn(ctx.db, workspaceId, environmentId, id);
  if (operationId === null || finishedAt !== null) {
    throw new Fault('already_finished', `The deployment has already ended: ${status}.`);
  }
  await cancelOperation(ctx.db, ctx.kinds, workspaceId, operationId);
  return readDeployment(ctx.db, workspaceId, environmentId, id);
}
