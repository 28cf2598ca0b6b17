/**
 * A new environment of what the analysis found, in the caller's transaction: the app that is meant, the user's settings,
 * variables and services, and what is not said from the analysis. Secrets that only have to be random are made here.
 */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { Clock } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { type EnvironmentId, newId, type ProjectId, type ServerId, type WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { slugOf } from '../projects/create-project.ts';
import { readHeldServer } from '../servers/read-server.ts';
import { checkLimits, checkSettings, checkValues } from './check-settings.ts';
import { chooseApp, generatedVariables } from './choose-app.ts';
import type { EnvironmentSettings } from './environments.ts';
import type { EnvironmentHooks, WantedService } from './hooks.ts';
import { insertEnvironment } from './queries.ts';
import { type NewVariable, putVariables } from './variables/put-variables.ts';

export interface EnvironmentPlan {
  readonly project: { readonly id: ProjectId; readonly name: string };
  readonly result: AnalysisResult;
  readonly name: string;
  readonly branch: string;
  /** The path of one of the analysis' apps; needed where there are several. */
  readonly app: string | undefined;
  readonly serverId: ServerId | undefined;
  readonly settings: EnvironmentSettings | undefined;
  readonly variables: readonly NewVariable[] | undefined;
  readonly services: readonly WantedService[] | undefined;
  /** Where these stand in the request. */
  readonly fields: { readonly app: string; readonly serverId: string };
}

/** Undefined where the project has an environment of that name already. */
export async function makeEnvironment(
  tx: Queryable,
  ctx: { readonly sealer: Sealer; readonly clock: Clock; readonly hooks: EnvironmentHooks },
  workspaceId: WorkspaceId,
  { project, result, name, branch, serverId, settings = {}, fields, ...plan }: EnvironmentPlan,
): Promise<EnvironmentId | undefined> {
  const now = ctx.clock.now();
  checkValues(settings);
  const app = chooseApp(result, plan.app, fields.app, settings);
  checkSettings(settings, app);
  if (serverId !== undefined) {
    const { facts } = await checkServer(tx, workspaceId, serverId, fields.serverId);
    checkLimits(settings, Object.keys(settings), facts);
  }
  const id = newId<EnvironmentId>();
  const row = {
    id,
    projectId: project.id,
    name,
    slug: slugOf(`${project.name} ${name}`),
    branch,
    serverId: serverId ?? null,
    settings: { ...(app && { appPath: app.path }), ...settings },
  };
  if (!(await insertEnvironment(tx, workspaceId, row, now))) return undefined;
  const variables = [...generatedVariables(result, app), ...(plan.variables ?? [])];
  await putVariables(tx, ctx.sealer, workspaceId, id, variables, now);
  const { services } = plan;
  for (const hook of ctx.hooks) await hook.created?.(tx, { workspaceId, id, services, result, app });
  return id;
}

/** The server that a request names: it is the caller's, and the answer says which field named it. */
export async function checkServer(tx: Queryable, workspaceId: WorkspaceId, serverId: ServerId, path: string) {
  const server = await readHeldServer(tx, workspaceId, serverId, 'shared').catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
    throw new Fault('not_found', 'No such server.', {
      errors: [{ path, message: 'is none of your servers' }],
    });
  });
  if (server.clusterId === null) return server;
  throw new Fault('server_in_cluster', `${server.name} is a member of a cluster.`, {
    errors: [
      { path, message: 'must be a server outside of clusters: a member belongs to its cluster as a whole' },
    ],
  });
}
