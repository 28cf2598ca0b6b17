/** One more environment of a project that has been finalised. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { nameTaken } from '../environments/change-environment.ts';
import { checkKeys } from '../environments/check-keys.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import { setAutoDeploy, setDecided } from '../environments/pushed-environments.ts';
import type { NewVariable } from '../environments/put-variables.ts';
import { branchHead } from '../projects/branch-head.ts';
import { tellProject } from '../projects/projects.ts';
import { lockSource } from '../projects/read-source.ts';
import type { WantedService } from '../services/services.ts';
import type { AssemblyContext } from './assembly.ts';
import { ensureHook } from './auto-deploy.ts';
import { makeEnvironment } from './make-environment.ts';
import { readEnvironment, type ShownEnvironment } from './read-environments.ts';
import { readProject } from './read-projects.ts';

export interface EnvironmentWish {
  readonly projectId: ProjectId;
  readonly name: string;
  readonly branch?: string;
  readonly serverId?: ServerId;
  readonly settings?: EnvironmentSettings;
  readonly variables?: readonly NewVariable[];
  readonly services?: readonly WantedService[];
  readonly autoDeploy?: boolean;
}

export async function addEnvironment(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  wish: EnvironmentWish,
  saveResponse: SaveResponse,
): Promise<Answer<ShownEnvironment>> {
  const { projectId, name, autoDeploy = false } = wish;
  checkKeys(wish.variables ?? [], 'variables');
  const known = await readFinalised(ctx.db, workspaceId, projectId);
  const branch = wish.branch ?? known.commit.branch;
  // Before the transaction, because it asks the provider.
  const isOther = branch !== known.commit.branch;
  const head = isOther || autoDeploy ? await branchHead(ctx, workspaceId, projectId, branch) : undefined;
  if (autoDeploy) await ensureHook(ctx, workspaceId, projectId);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    await lockSource(tx, workspaceId, projectId);
    const { project, result } = await readFinalised(tx, workspaceId, projectId);
    const { serverId, settings, variables, services } = wish;
    const id = await makeEnvironment(tx, ctx, workspaceId, {
      project,
      result,
      name,
      branch,
      app: settings?.appPath,
      serverId,
      settings,
      variables,
      services,
      fields: { app: 'settings.appPath', serverId: 'serverId' },
    });
    if (!id) throw nameTaken(name);
    if (autoDeploy && head !== undefined) await switchOn(tx, workspaceId, id, head, now);
    const body = await readEnvironment(tx, workspaceId, id);
    const answer = await saveResponse(tx, { status: 201, location: `/api/v1/environments/${id}`, body });
    await tellProject(tx, workspaceId, projectId, { reason: 'environment_created', environmentId: id });
    return answer;
  });
}

/** What was pushed before it was there is not deployed unasked. */
async function switchOn(tx: Queryable, workspaceId: WorkspaceId, id: EnvironmentId, head: string, now: Date) {
  await setAutoDeploy(tx, workspaceId, id, { enabled: true, watchPaths: [] }, now);
  await setDecided(tx, workspaceId, id, head);
}

async function readFinalised(db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  const project = await readProject(db, workspaceId, projectId);
  const { result, commit } = project.analysis;
  if (project.status === 'active' && result && commit) return { project, result, commit };
  throw new Fault('project_not_ready', 'The project has not been finalised yet.', {
    hint: 'POST /projects/:id/finalize makes the first environment; further ones come after it.',
  });
}
