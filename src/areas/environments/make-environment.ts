/**
 * A new environment of what the analysis found, in the caller's transaction: the app that is meant, the user's settings,
 * variables and services, and what is not said from the analysis. Secrets that only have to be random are made here.
 */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { Clock } from '../../clock.ts';
import { type EnvironmentId, newId, type ProjectId, type WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { slugOf } from '../projects/create-project.ts';
import { checkLimits, checkSettings, checkValues } from './check-settings.ts';
import { chooseApp, generatedVariables } from './choose-app.ts';
import type { EnvironmentSettings } from './environments.ts';
import type { EnvironmentHooks, WantedService } from './hooks.ts';
import { refuseSettingsOnCluster } from './placement/on-cluster.ts';
import { holdPlace, type NamedPlacement } from './placement/wanted-placement.ts';
import { insertEnvironment } from './queries.ts';
import { type NewVariable, putVariables } from './variables/put-variables.ts';

export interface EnvironmentPlan {
  readonly project: { readonly id: ProjectId; readonly name: string };
  readonly result: AnalysisResult;
  readonly name: string;
  readonly branch: string;
  /** The path of one of the analysis' apps; needed where there are several. */
  readonly app: string | undefined;
  readonly placement: NamedPlacement | undefined;
  readonly settings: EnvironmentSettings | undefined;
  readonly variables: readonly NewVariable[] | undefined;
  readonly services: readonly WantedService[] | undefined;
  /** Where these stand in the request. */
  readonly fields: { readonly app: string };
}

/** Undefined where the project has an environment of that name already. */
export async function makeEnvironment(
  tx: Queryable,
  ctx: { readonly sealer: Sealer; readonly clock: Clock; readonly hooks: EnvironmentHooks },
  workspaceId: WorkspaceId,
  { project, result, name, branch, placement, settings = {}, fields, ...plan }: EnvironmentPlan,
): Promise<EnvironmentId | undefined> {
  const now = ctx.clock.now();
  checkValues(settings);
  const app = chooseApp(result, plan.app, fields.app, settings);
  checkSettings(settings, app);
  const place = placement && (await holdPlace(tx, workspaceId, placement));
  if (place) checkLimits(settings, Object.keys(settings), place.facts);
  const id = newId<EnvironmentId>();
  const row = {
    id,
    projectId: project.id,
    name,
    slug: slugOf(`${project.name} ${name}`),
    branch,
    serverId: place?.serverId ?? null,
    settings: {
      ...(app && { appPath: app.path }),
      ...settings,
      ...place?.settings,
    },
  };
  if (place && place.clusterId !== null) refuseSettingsOnCluster(row.settings);
  if (!(await insertEnvironment(tx, workspaceId, row, now))) return undefined;
  const variables = [...generatedVariables(result, app), ...(plan.variables ?? [])];
  await putVariables(tx, ctx.sealer, workspaceId, id, variables, now);
  const { services } = plan;
  for (const hook of ctx.hooks) await hook.created?.(tx, { workspaceId, id, services, result, app });
  return id;
}
