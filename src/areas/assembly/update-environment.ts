/** Changes to an environment's name, settings and watched paths. Nothing is deployed; the answer says what would be. */
import type { AnalysisResult } from '../../analysis/result.ts';
import { Fault } from '../../fault.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import { changeDetails } from '../environments/change-environment.ts';
import { checkSettings } from '../environments/check-settings.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import { changedSettings, isSettingKey, type Needs, needsOfSettings } from '../environments/needs.ts';
import { checkWatchPaths } from '../environments/watch-paths.ts';
import { tellProject } from '../projects/projects.ts';
import type { AssemblyContext } from './assembly.ts';
import { chooseApp } from './choose-app.ts';
import { readEnvironment } from './read-environments.ts';
import { readProject } from './read-projects.ts';

export interface EnvironmentChangeWish {
  readonly name?: string;
  readonly settings?: EnvironmentSettings;
  /** Settings that are to be as the analysis found them again. */
  readonly resetSettings?: readonly string[];
  readonly watchPaths?: readonly string[];
}

export async function updateEnvironment(
  ctx: AssemblyContext,
  workspaceId: WorkspaceId,
  id: EnvironmentId,
  wish: EnvironmentChangeWish,
) {
  if (wish.watchPaths) checkWatchPaths(wish.watchPaths);
  return ctx.db.transaction(async (tx) => {
    const before = await lockEnvironment(tx, workspaceId, id);
    const { projectId, currentReleaseId } = before;
    const { name = before.name, watchPaths = before.watchPaths } = wish;
    const settings = merged(before.settings, wish);
    const { analysis } = await readProject(tx, workspaceId, projectId);
    const isGenerated = checkChanged(analysis.result ?? undefined, before.settings, settings);
    await changeDetails(tx, workspaceId, id, { name, settings, watchPaths }, ctx.clock.now());
    const shown = await readEnvironment(tx, workspaceId, id);
    await tellProject(tx, workspaceId, projectId, { reason: 'environment_changed', environmentId: id });
    // Where nothing was ever deployed, the first deployment takes everything as it is then.
    const needs: Needs =
      currentReleaseId === null ? 'nothing' : needsOfSettings(before.settings, settings, isGenerated);
    return { ...shown, needs };
  });
}

function merged(
  before: EnvironmentSettings,
  { settings = {}, resetSettings = [] }: EnvironmentChangeWish,
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
