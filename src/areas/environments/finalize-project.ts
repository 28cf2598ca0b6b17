/**
 * What the analysis found becomes something that can run: the user's corrections on top of it, and a first environment
 * with its variables and services.
 */
import { Fault } from '../../fault.ts';
import type { AccountId, DeploymentId, EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { activateProject, findProject } from '../projects/find-projects.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { lockSource } from '../projects/read-source.ts';
import type { EnvironmentsContext } from './context.ts';
import type { EnvironmentSettings } from './environments.ts';
import type { WantedService } from './hooks.ts';
import { makeEnvironment } from './make-environment.ts';
import { namedPlacement, type WantedPlacement } from './placement/wanted-placement.ts';
import { readProject, type ShownProject } from './read-projects.ts';
import { checkKeys } from './variables/check-keys.ts';
import type { NewVariable } from './variables/put-variables.ts';

export interface Finalization {
  /** The path of one of the analysis' apps; needed where there are several. */
  readonly app?: string;
  readonly settings?: EnvironmentSettings;
  readonly environment: {
    readonly name: string;
    readonly branch?: string;
    readonly serverId?: ServerId;
    readonly placement?: WantedPlacement;
    readonly variables?: readonly NewVariable[];
    readonly services?: readonly WantedService[];
  };
  readonly deploy?: boolean;
}

/** A deployment as its area shows it. */
export type ShowDeployment<Deployment> = (
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: DeploymentId,
) => Promise<Deployment>;

export interface Finalized<Deployment> {
  readonly project: ShownProject;
  readonly environment: ShownProject['environments'][number];
  readonly deployment: Deployment | null;
}

export async function finalizeProject<Deployment>(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: ProjectId,
  requestedBy: AccountId,
  wanted: Finalization,
  showDeployment: ShowDeployment<Deployment>,
  saveResponse: SaveResponse,
) {
  checkKeys(wanted.environment.variables ?? [], 'environment.variables');
  return ctx.db.transaction(async (tx): Promise<Answer<Finalized<Deployment>>> => {
    await lockSource(tx, workspaceId, id);
    const project = await findProject(tx, workspaceId, id);
    if (project.status === 'active') throw alreadyFinalized();
    const { analysisResult: result, analysisCommit: commit } = project;
    if (project.analysisStatus !== 'succeeded' || !result || !commit) throw notAnalysed();
    const { name, branch = commit.branch, variables, services } = wanted.environment;
    const environmentId = await makeEnvironment(tx, ctx, workspaceId, {
      project,
      result,
      name,
      branch,
      app: wanted.app,
      settings: wanted.settings,
      variables,
      services,
      placement: namedPlacement(wanted.environment, 'environment.'),
      fields: { app: 'app' },
    });
    if (!environmentId) throw new Error('a project that is not active has an environment');
    await activateProject(tx, workspaceId, id, ctx.clock.now());
    const first = { workspaceId, environmentId, trigger: 'finalize', requestedBy } as const;
    const deploymentId = wanted.deploy === true ? await ctx.deploy(tx, first) : null;
    const deployment = deploymentId && (await showDeployment(tx, workspaceId, environmentId, deploymentId));
    const shown = await readProject(tx, ctx.hooks, workspaceId, id);
    const environment = shown.environments.find((each) => each.id === environmentId);
    if (!environment) throw new Error('the environment that was made is not there');
    const answer = await saveResponse(tx, { status: 200, body: { project: shown, environment, deployment } });
    await publishProjectEvent(tx, workspaceId, id, { reason: 'finalized', environmentId });
    return answer;
  });
}

function notAnalysed(): Fault {
  return new Fault('project_not_ready', 'The repository has not been analysed yet, or not with success.', {
    hint: 'Wait for the analysis, or start it again with POST /projects/:id/retry-analysis.',
  });
}

function alreadyFinalized(): Fault {
  return new Fault('already_finalized', 'The project has been finalised already.');
}
