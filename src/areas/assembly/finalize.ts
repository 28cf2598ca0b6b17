/**
 * What the analysis found becomes something that can run: the user's corrections on top of it, and a first environment
 * with its variables and services.
 */
import { Fault } from '../../fault.ts';
import type { AccountId, EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { readDeployment, type ShownDeployment } from '../deployments/read-deployments.ts';
import { requestDeployment } from '../deployments/request-deployment.ts';
import { checkKeys } from '../environments/check-keys.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import type { NewVariable } from '../environments/put-variables.ts';
import { activateProject, findProject } from '../projects/find-projects.ts';
import { tellProject } from '../projects/projects.ts';
import { lockSource } from '../projects/read-source.ts';
import type { WantedService } from '../services/services.ts';
import type { AssemblyContext } from './assembly.ts';
import { makeEnvironment } from './make-environment.ts';
import { readProject } from './read-projects.ts';

export interface FinalizeWish {
  /** The path of one of the analysis' apps; needed where there are several. */
  readonly app?: string;
  readonly settings?: EnvironmentSettings;
  readonly environment: {
    readonly name: string;
    readonly branch?: string;
    readonly serverId?: string;
    readonly variables?: readonly NewVariable[];
    readonly services?: readonly WantedService[];
  };
  readonly deploy?: boolean;
}

export async function finalizeProject(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  requestedBy: AccountId,
  wish: FinalizeWish,
  saveResponse: SaveResponse,
) {
  checkKeys(wish.environment.variables ?? [], 'environment.variables');
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx): Promise<Answer<Finalized>> => {
    await lockSource(tx, workspaceId, id);
    const project = await findProject(tx, workspaceId, id);
    if (project.status === 'active') throw alreadyFinalized();
    const { analysisResult: result, analysisCommit: commit } = project;
    if (project.analysisStatus !== 'succeeded' || !result || !commit) throw notAnalysed();
    const { name, branch = commit.branch, serverId, variables, services } = wish.environment;
    const environmentId = await makeEnvironment(tx, ctx, workspaceId, {
      project,
      result,
      name,
      branch,
      app: wish.app,
      settings: wish.settings,
      variables,
      services,
      serverId: serverId as ServerId | undefined,
      fields: { app: 'app', serverId: 'environment.serverId' },
    });
    if (!environmentId) throw new Error('a project that is not active has an environment');
    await activateProject(tx, workspaceId, id, now);
    const deployment =
      wish.deploy === true ? await deployFirst(tx, ctx, { workspaceId, environmentId, requestedBy }) : null;
    const shown = await readProject(tx, workspaceId, id);
    const environment = shown.environments.find((each) => each.id === environmentId);
    if (!environment) throw new Error('the environment that was made is not there');
    const body: Finalized = { project: shown, environment, deployment };
    const answer = await saveResponse(tx, { status: 200, body });
    await tellProject(tx, workspaceId, id, { reason: 'finalized', environmentId });
    return answer;
  });
}

async function deployFirst(
  tx: Queryable,
  ctx: AssemblyContext,
  wish: {
    readonly workspaceId: WorkspaceId;
    readonly environmentId: EnvironmentId;
    readonly requestedBy: AccountId;
  },
): Promise<ShownDeployment> {
  const id = await requestDeployment(tx, ctx, { ...wish, trigger: 'finalize' });
  return readDeployment(tx, wish.workspaceId, wish.environmentId, id);
}

type Shown = Awaited<ReturnType<typeof readProject>>;

export interface Finalized {
  readonly project: Shown;
  readonly environment: Shown['environments'][number];
  readonly deployment: ShownDeployment | null;
}

function notAnalysed(): Fault {
  return new Fault('project_not_ready', 'The repository has not been analysed yet, or not with success.', {
    hint: 'Wait for the analysis, or start it again with POST /projects/:id/retry-analysis.',
  });
}

function alreadyFinalized(): Fault {
  return new Fault('already_finalized', 'The project has been finalised already.');
}
