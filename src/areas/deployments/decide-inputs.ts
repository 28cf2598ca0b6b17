/**
 * Decides what one commit, or an earlier release, is built of and run with in an environment: read from the mirror and
 * the store, put together by `plan.ts`. Called once a deployment, by its step `plan`.
 */
import { createHmac } from 'node:crypto';
import type { AnalysisResult, App } from '../../analysis/result.ts';
import { type Capacity, capacityOf, forContainers, limitsOf } from '../../engine/capacity.ts';
import { imageName } from '../../engine/placement.ts';
import type { PlannedRun } from '../../engine/release-spec.ts';
import type { EnvironmentId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { lockEnvironment } from '../environments/environment-state.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import { type OpenVariable, openVariables } from '../environments/variables/open-variables.ts';
import { analyseFiles, type ReadableCommit, writeDockerfile } from '../projects/read-repository.ts';
import type { Release } from '../releases/releases.ts';
import { readServer } from '../servers/read-server.ts';
import { serviceVariables } from '../services/service-variables.ts';
import type { DeploymentsContext } from './deployments.ts';
import type { BuildSpec, DeploymentInputs } from './inputs.ts';
import { buildKeyOf, buildSourceOf, chooseApp, plannedRunOf, requirePossible, runPlanOf } from './plan.ts';

export interface CommitToDeploy extends ReadableCommit {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly serverId: ServerId;
  readonly rootDirectory: string;
  readonly tree: string;
  readonly signal: AbortSignal;
}

/** What is built, and what of it a person sees with the deployment. */
export interface DecidedBuild {
  readonly image: string;
  readonly buildKey: string;
  readonly build: BuildSpec;
  readonly app: App;
  readonly run: PlannedRun;
  readonly server: Capacity;
  /** Of the same moment as what the build gets. */
  readonly variables: readonly OpenVariable[];
}

export async function decideBuild(ctx: DeploymentsContext, commit: CommitToDeploy): Promise<DecidedBuild> {
  const { workspaceId, environmentId, rootDirectory, tree, signal } = commit;
  const analysis = await analyseFiles(ctx.analyst, workspaceId, commit, rootDirectory, signal);
  const { settings, variables } = await readWanted(ctx, workspaceId, environmentId);
  const app = chooseApp(analysis, settings);
  const source = buildSourceOf(app, settings);
  const atBuild = variables.filter(({ target }) => target !== 'runtime');
  const generated =
    source.kind === 'generated'
      ? await generate(ctx, commit, settings, analysis.monorepo, app, atBuild)
      : undefined;
  const secrets = new Map(atBuild.filter(({ isSecret }) => isSecret).map(({ key, value }) => [key, value]));
  const secretsVersion = versionOf(ctx, workspaceId, secrets);
  const plain = atBuild.filter(({ isSecret }) => !isSecret).map(({ key, value }) => [key, value.reveal()]);
  const buildArgs: Record<string, string> = Object.fromEntries(plain);
  if (secrets.size > 0) buildArgs.SECRETS_VERSION = secretsVersion;
  const { dockerfile = '', dockerignore = '' } = generated ?? {};
  const buildKey = buildKeyOf({ tree, source, dockerfile, dockerignore, buildArgs, secretsVersion });
  const { facts } = await readServer(ctx.db, workspaceId, commit.serverId);
  const runSettings = generated ? { ...settings, port: generated.port } : settings;
  const run = plannedRunOf(app, runSettings, analysis.variables);
  requirePossible(source, run);
  return {
    image: imageName(environmentId, buildKey),
    buildKey,
    build: { source, dockerfile, dockerignore, buildArgs, secrets, ...buildLimits(facts, settings) },
    app,
    run,
    server: capacityOf(facts),
    variables,
  };
}

/** Settings and variables of one moment: whoever changes either locks the environment too. */
function readWanted(ctx: DeploymentsContext, workspaceId: WorkspaceId, environmentId: EnvironmentId) {
  return ctx.db.transaction(async (tx) => {
    const { settings } = await lockEnvironment(tx, workspaceId, environmentId);
    return { settings, variables: await openVariables(tx, ctx.sealer, workspaceId, environmentId) };
  });
}

/** Half of the memory and most of the processors unless the settings say otherwise, so that what runs there goes on. */
function buildLimits(facts: Capacity | null, { buildCpus, buildMemoryMb }: EnvironmentSettings) {
  const server = capacityOf(facts);
  const most = forContainers(server);
  return {
    cpus: Math.min(buildCpus ?? Math.max(0.5, server.cpus * 0.75), most.cpus),
    memoryMb: Math.min(buildMemoryMb ?? Math.max(512, Math.round(server.memoryMb / 2)), most.memoryMb),
  };
}

/** A release of what is built, with the variables that were read with it. */
export async function newInputs(
  tx: Queryable,
  ctx: DeploymentsContext,
  { workspaceId, environmentId }: Pick<CommitToDeploy, 'workspaceId' | 'environmentId'>,
  { image, buildKey, build, run, variables }: DecidedBuild,
): Promise<DeploymentInputs> {
  const brought = await serviceVariables(tx, ctx.sealer, workspaceId, environmentId, run.askedOfServices);
  return { image, buildKey, build, release: { kind: 'new', ...withVariables(run, brought, variables) } };
}

export interface RollbackTo {
  readonly release: Release;
  readonly variables: 'then' | 'now';
  /** Where its image is gone from the server, it is built again. */
  readonly rebuilt: DecidedBuild | null;
}

/** It runs as it did then; its variables are those of then, or those of today. */
export async function rollbackInputs(
  tx: Queryable,
  ctx: DeploymentsContext,
  { workspaceId, environmentId }: Pick<CommitToDeploy, 'workspaceId' | 'environmentId'>,
  { release, variables, rebuilt }: RollbackTo,
): Promise<DeploymentInputs> {
  const { image, buildKey, build } = rebuilt ?? {
    image: release.image,
    buildKey: release.buildKey,
    build: null,
  };
  if (variables === 'then') {
    const { run, variables: then } = release;
    const same = rebuilt
      ? ({ kind: 'new', run, variables: then } as const)
      : ({ kind: 'earlier', id: release.id } as const);
    return { image, buildKey, build, release: same };
  }
  const asked = release.run.askedOfServices;
  const brought = await serviceVariables(tx, ctx.sealer, workspaceId, environmentId, asked);
  const now = rebuilt?.variables ?? (await openVariables(tx, ctx.sealer, workspaceId, environmentId));
  return { image, buildKey, build, release: { kind: 'new', ...withVariables(release.run, brought, now) } };
}

/** What a user sets counts above what a service brings. */
function withVariables(
  run: PlannedRun,
  brought: ReadonlyMap<string, Secret>,
  own: readonly OpenVariable[],
): { run: PlannedRun; variables: Map<string, Secret> } {
  const atRunTime = own.filter(({ target }) => target !== 'build');
  const plainKeys = atRunTime.filter(({ isSecret }) => !isSecret).map(({ key }) => key);
  const values = atRunTime.map(({ key, value }) => [key, value] as const);
  return { run: { ...run, plainKeys }, variables: new Map([...brought, ...values]) };
}

async function generate(
  ctx: DeploymentsContext,
  commit: CommitToDeploy,
  settings: EnvironmentSettings,
  monorepo: AnalysisResult['monorepo'],
  app: App,
  atBuild: readonly OpenVariable[],
) {
  const { workspaceId, environmentId, signal } = commit;
  const { installCommand, buildCommand, startCommand, staticOutput, port } = settings;
  // A volume begins with the owner that its folder has in the image; without one it would be root's, and closed to the app.
  const volumes = settings.volumes?.map(({ path }) => path) ?? app.volumes;
  const order = {
    app: { ...app, volumes },
    monorepo,
    buildVariables: atBuild.map(({ key, isSecret }) => ({ key, secret: isSecret })),
    cacheScope: environmentId,
    overrides: {
      ...(installCommand !== undefined && { installCommand }),
      ...(buildCommand !== undefined && { buildCommand }),
      ...(startCommand && { startCommand }),
      ...(staticOutput !== undefined && { staticOutput: staticOf(app, staticOutput) }),
      ...(port !== undefined && { port }),
    },
  };
  return writeDockerfile(ctx.analyst, workspaceId, commit, order, signal);
}

function staticOf(app: App, directory: string | null): App['staticOutput'] {
  return directory === null ? null : { directory, isSinglePage: app.staticOutput?.isSinglePage ?? false };
}

/** Tells that a secret has changed, and nothing else about it: who has no key cannot try values. */
function versionOf(
  ctx: DeploymentsContext,
  workspaceId: WorkspaceId,
  secrets: ReadonlyMap<string, Secret>,
): string {
  if (secrets.size === 0) return '';
  const hmac = createHmac('sha256', ctx.masterKeys.derive('build-secrets')).update(workspaceId);
  for (const [key, value] of [...secrets].sort(([one], [other]) => (one < other ? -1 : 1)))
    hmac.update(`\0${key}\0${value.reveal()}`);
  return hmac.digest('hex').slice(0, 16);
}

/** The plan as a person sees it with the deployment. */
export function shownPlan({ app, build, buildKey, image, run, server }: DecidedBuild) {
  const { source, dockerfile, buildArgs, secrets } = build;
  const { port, health, releaseCommand, processes, replicas, volumes } = runPlanOf(run, {
    exposedPorts: [],
    user: '',
  });
  const limits = limitsOf(run, server);
  const [memoryMb, cpus] = [limits.memoryMb.limit, limits.cpus.limit];
  return {
    app: { path: app.path, name: app.name, language: app.language, framework: app.framework },
    build: {
      ...source,
      ...(dockerfile !== '' && { dockerfile }),
      key: buildKey,
      image,
      arguments: Object.keys(buildArgs),
      secrets: [...secrets.keys()],
    },
    run: { port, health, releaseCommand, processes, replicas, memoryMb, cpus, volumes },
  };
}
