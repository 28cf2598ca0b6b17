/** One more environment of a project that has been finalised. */

import { Fault } from '../../fault.ts';
import type { EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { branchHead } from '../projects/branch-head.ts';
import { findProject } from '../projects/find-projects.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { lockSource } from '../projects/read-source.ts';
import type { EnvironmentsContext } from './context.ts';
import { setAutoDeploy } from './environment-state.ts';
import { type EnvironmentSettings, environmentNameTaken } from './environments.ts';
import type { WantedService } from './hooks.ts';
import { makeEnvironment } from './make-environment.ts';
import { namedPlacement, type WantedPlacement } from './placement/wanted-placement.ts';
import { setDecided } from './pushed-environments.ts';
import { readEnvironment, type ShownEnvironment } from './read-environments.ts';
import { checkKeys } from './variables/check-keys.ts';
import type { NewVariable } from './variables/put-variables.ts';

export interface NewEnvironment {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly branch?: string;
  readonly serverId?: ServerId;
  readonly placement?: WantedPlacement;
  readonly settings?: EnvironmentSettings;
  readonly variables?: readonly NewVariable[];
  readonly services?: readonly WantedService[];
  readonly autoDeploy?: boolean;
}

export async function createEnvironment(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  wanted: NewEnvironment,
  saveResponse: SaveResponse,
): Promise<Answer<ShownEnvironment>> {
  const { projectId, name, autoDeploy = false } = wanted;
  checkKeys(wanted.variables ?? [], 'variables');
  const known = await readFinalised(ctx.db, workspaceId, projectId);
  const branch = wanted.branch ?? known.commit.branch;
  // Before the transaction, because it asks the provider.
  const isOther = branch !== known.commit.branch;
  const head = isOther || autoDeploy ? await branchHead(ctx, workspaceId, projectId, branch) : undefined;
  if (autoDeploy) await ctx.ensureWebhook(workspaceId, projectId);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockSource(tx, workspaceId, projectId);
    const { project, result } = await readFinalised(tx, workspaceId, projectId);
    const { settings, variables, services } = wanted;
    const id = await makeEnvironment(tx, ctx, workspaceId, {
      project,
      result,
      name,
      branch,
      app: settings?.appPath,
      placement: namedPlacement(wanted),
      settings,
      variables,
      services,
      fields: { app: 'settings.appPath' },
    });
    if (!id) throw environmentNameTaken(name);
    if (autoDeploy && head !== undefined) await switchOn(tx, workspaceId, id, head, now);
    const body = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/environments/${id}`, body });
    await publishProjectEvent(tx, workspaceId, projectId, {
      reason: 'environment_created',
      environmentId: id,
    });
    return answer;
  });
}

/** What was pushed before it was there is not deployed unasked. */
async function switchOn(tx: Queryable, workspaceId: WorkspaceId, id: EnvironmentId, head: string, now: Date) {
  await setAutoDeploy(tx, workspaceId, id, { enabled: true, watchPaths: [] }, now);
  await setDecided(tx, workspaceId, id, head);
}

async function readFinalised(db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  const project = await findProject(db, workspaceId, projectId);
  const { analysisResult: result, analysisCommit: commit } = project;
  if (project.status === 'active' && result && commit) return { project, result, commit };
  throw new Fault('project_not_ready', 'The project has not been finalised yet.', {
    hint: 'Make the first environment with POST /projects/:id/finalize; further ones come after it.',
  });
}
