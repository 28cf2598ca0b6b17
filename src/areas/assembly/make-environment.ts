/**
 * A new environment of what the analysis found, in the caller's transaction: the app that is meant, the user's settings,
 * variables and services, and what is not said from the analysis. Secrets that only have to be random are made here.
 */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { EnvironmentId, ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { checkServer } from '../environments/check-server.ts';
import { checkSettings } from '../environments/check-settings.ts';
import { createEnvironment } from '../environments/create-environment.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import type { NewVariable } from '../environments/put-variables.ts';
import { slugOf } from '../projects/create-project.ts';
import { createServices } from '../services/create-services.ts';
import type { WantedService } from '../services/services.ts';
import type { AssemblyContext } from './assembly.ts';
import { chooseApp, generatedVariables, neededServices } from './choose-app.ts';

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
  { sealer, clock }: AssemblyContext,
  workspaceId: WorkspaceId,
  { project, result, name, branch, serverId, settings = {}, fields, ...wish }: EnvironmentPlan,
): Promise<EnvironmentId | undefined> {
  const now = clock.now();
  const app = chooseApp(result, wish.app, fields.app, settings);
  checkSettings(settings, app);
  if (serverId !== undefined) await checkServer(tx, workspaceId, serverId, fields.serverId);
  const environment = {
    projectId: project.id,
    name,
    slug: slugOf(`${project.name} ${name}`),
    branch,
    serverId: serverId ?? null,
    settings: { ...(app && { appPath: app.path }), ...settings },
    variables: [...generatedVariables(result, app), ...(wish.variables ?? [])],
  };
  const id = await createEnvironment(tx, sealer, workspaceId, environment, now);
  if (id !== undefined)
    await createServices(tx, workspaceId, id, wish.services ?? neededServices(result, app), now);
  return id;
}
