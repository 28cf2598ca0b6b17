/** Changes to an environment's name, settings, watched paths and branch. Nothing is deployed; the answer says what would be. */
import type { AnalysisResult } from '../../analysis/result.ts';
import { errorCode, Fault } from '../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { branchHead } from '../projects/branch-head.ts';
import { findProject } from '../projects/find-projects.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import { readServer } from '../servers/read-server.ts';
import { checkLimits, checkSettings, checkValues } from './check-settings.ts';
import { chooseApp } from './choose-app.ts';
import type { EnvironmentsContext } from './context.ts';
import * as queries from './environment-state.ts';
import { lockEnvironment } from './environment-state.ts';
import { type EnvironmentSettings, environmentNameTaken } from './environments.ts';
import { changedSettings, isSettingKey, type Needs, needsOfSettings } from './needs.ts';
import { refuseSettingsOnCluster } from './placement/on-cluster.ts';
import { readEnvironment } from './read-environments.ts';
import { checkWatchPaths } from './watch-paths.ts';

export interface EnvironmentUpdate {
  readonly name?: string;
  readonly settings?: EnvironmentSettings;
  /** Settings that are to be as the analysis found them again. */
  readonly resetSettings?: readonly string[];
  readonly watchPaths?: readonly string[];
}

export async function updateEnvironment(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  wanted: EnvironmentUpdate,
) {
  if (wanted.watchPaths) checkWatchPaths(wanted.watchPaths);
  checkValues(wanted.settings ?? {});
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const { projectId, currentReleaseId } = before;
    const { name = before.name, watchPaths = before.watchPaths } = wanted;
    const settings = merged(before.settings, wanted);
    const { analysisResult } = await findProject(tx, workspaceId, projectId);
    const isGenerated = checkChanged(analysisResult ?? undefined, before.settings, settings);
    if (before.serverId !== null) {
      const { facts, clusterId } = await readServer(tx, workspaceId, before.serverId);
      checkLimits(settings, changedSettings(before.settings, settings), facts);
      if (clusterId !== null) refuseSettingsOnCluster(settings);
    }
    const change = { name, settings, watchPaths };
    await queries.setDetails(tx, workspaceId, id, change, ctx.clock.now()).catch((error: unknown) => {
      // The one unique thing that changes is the name.
      throw errorCode(error) === '23505' ? environmentNameTaken(name) : error;
    });
    const shown = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    await publishProjectEvent(tx, workspaceId, projectId, {
      reason: 'environment_changed',
      environmentId: id,
    });
    // Where nothing was ever deployed, the first deployment takes everything as it is then.
    const needs: Needs =
      currentReleaseId === null ? 'nothing' : needsOfSettings(before.settings, settings, isGenerated);
    return { ...shown, needs };
  });
}

/** Another branch. What runs stays; with auto-deploy on, its newest commit comes with the next look at the repository. */
export async function changeBranch(
  ctx: EnvironmentsContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  branch: string,
) {
  const { projectId } = await readEnvironment(ctx.db, ctx.hooks, workspaceId, id);
  await branchHead(ctx, workspaceId, projectId, branch);
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const isOther = before.branch !== branch;
    if (isOther) await queries.setBranch(tx, workspaceId, id, branch, ctx.clock.now());
    const shown = await readEnvironment(tx, ctx.hooks, workspaceId, id);
    if (isOther)
      await publishProjectEvent(tx, workspaceId, projectId, { reason: 'branch', environmentId: id });
    return shown;
  });
}

function merged(
  before: EnvironmentSettings,
  { settings = {}, resetSettings = [] }: EnvironmentUpdate,
): EnvironmentSettings {
  const both = resetSettings.findIndex((key) => Object.hasOwn(settings, key));
  if (both !== -1) {
    throw new Fault('invalid_input', 'A setting cannot be set and reset at once.', {
      errors: [{ path: `resetSettings[${both}]`, message: 'is in `settings` too' }],
    });
  }
  const reset = new Set(resetSettings.filter(isSettingKey));
  const kept = Object.entries(before).filter(([key]) => !isSettingKey(key) || !reset.has(key));
  return { ...Object.fromEntries(kept), ...settings };
}

/** Only what changes is held against the analysis: a new one must not stand in the way of everything else. */
function checkChanged(
  result: AnalysisResult | undefined,
  before: EnvironmentSettings,
  after: EnvironmentSettings,
): boolean {
  const changed = changedSettings(before, after);
  const isHowItRuns = (['appPath', 'startCommand', 'dockerfilePath', 'staticOutput'] as const).some((key) =>
    changed.includes(key),
  );
  if (result && isHowItRuns) chooseApp(result, after.appPath, 'settings.appPath', after);
  const app = result?.apps.find(({ path }) => path === after.appPath);
  if (changed.includes('volumes') || changed.includes('processes')) checkSettings(after, app);
  const dockerfile =
    after.dockerfilePath === undefined ? (app?.dockerfile?.path ?? null) : after.dockerfilePath;
  return dockerfile === null;
}
