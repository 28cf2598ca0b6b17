/**
 * What it takes to build and run one commit for an environment: read from the mirror and the store, decided by `plan.ts`.
 * Made anew by every step that needs it, because secrets are never written into a journal.
 */
import { createHmac } from 'node:crypto';
import type { AnalysisResult, App } from '../../analysis/result.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import { type OpenVariable, openVariables } from '../environments/environment-state.ts';
import type { EnvironmentSettings } from '../environments/environments.ts';
import { mirrorKeyOf } from '../projects/projects.ts';
import { analyseCommit, type ReadableRepository, treeOf } from '../projects/read-repository.ts';
import type { RunPlan } from '../releases/releases.ts';
import type { DeploymentsContext } from './deployments.ts';
import { type BuildSource, buildKeyOf, buildSourceOf, chooseApp, runPlanOf } from './plan.ts';

export interface Recipe {
  readonly app: App;
  readonly source: BuildSource;
  readonly dockerfile: string;
  readonly dockerignore: string;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly buildKey: string;
  readonly image: string;
  /** As far as it can be known without the image. */
  readonly run: (image: { readonly exposedPorts: readonly number[]; readonly user: string }) => RunPlan;
}

export interface RecipeWish {
  readonly workspaceId: WorkspaceId;
  readonly environmentId: EnvironmentId;
  readonly settings: EnvironmentSettings;
  readonly repository: ReadableRepository;
  readonly sha: string;
  readonly tree: string;
  readonly signal: AbortSignal;
}

const mostEntries = 200_000;

export async function recipeOf(ctx: DeploymentsContext, wish: RecipeWish): Promise<Recipe> {
  const { workspaceId, environmentId, settings, repository, sha, tree, signal } = wish;
  const analysis = await analyseCommit(ctx, workspaceId, repository, sha, signal);
  const app = chooseApp(analysis, settings);
  const source = buildSourceOf(app, settings);
  const variables = await openVariables(ctx.db, ctx.sealer, workspaceId, environmentId);
  const atBuild = variables.filter(({ target }) => target !== 'runtime');
  const written = source.kind === 'generated' ? await generate(ctx, wish, analysis, app, atBuild) : undefined;
  const secrets = new Map(atBuild.filter(({ isSecret }) => isSecret).map(({ key, value }) => [key, value]));
  const secretsVersion = versionOf(ctx, workspaceId, secrets);
  const plain = atBuild.filter(({ isSecret }) => !isSecret).map(({ key, value }) => [key, value.reveal()]);
  const buildArgs: Record<string, string> = Object.fromEntries(plain);
  if (secrets.size > 0) buildArgs.SECRETS_VERSION = secretsVersion;
  const { dockerfile = '', dockerignore = '' } = written ?? {};
  const buildKey = buildKeyOf({ tree, source, dockerfile, dockerignore, buildArgs, secretsVersion });
  const port = written ? { port: written.port } : {};
  return {
    app,
    source,
    dockerfile,
    dockerignore,
    buildArgs,
    secrets,
    buildKey,
    image: imageName(environmentId, buildKey),
    run: (image) => runPlanOf(app, { ...settings, ...port }, image, analysis.variables),
  };
}

export function imageName(environmentId: EnvironmentId, buildKey: string): string {
  return `slipway/${environmentId}:${buildKey}`;
}

async function generate(
  ctx: DeploymentsContext,
  { workspaceId, environmentId, settings, repository, sha, signal }: RecipeWish,
  { monorepo }: AnalysisResult,
  app: App,
  atBuild: readonly OpenVariable[],
) {
  const { filesToRead, generateDockerfile } = await import(
    '../../analysis/dockerfile/generate-dockerfile.ts'
  );
  const { Repository } = await import('../../analysis/repository.ts');
  const tree = treeOf((await ctx.mirrors()).open(mirrorKeyOf(workspaceId, repository.cloneUrl)), sha);
  const { entries } = await tree.list(mostEntries, signal);
  const files = new Repository(entries, await tree.read(filesToRead(entries), signal));
  const { installCommand, buildCommand, startCommand, staticOutput, port } = settings;
  // A volume begins with the owner that its folder has in the image; without one it would be root's, and closed to the app.
  const volumes = settings.volumes?.map(({ path }) => path) ?? app.volumes;
  return generateDockerfile({ ...app, volumes }, monorepo, {
    buildVariables: atBuild.map(({ key, isSecret }) => ({ key, secret: isSecret })),
    files,
    // Environments do not trust each other with what their builds leave in a cache.
    cacheScope: environmentId,
    overrides: {
      ...(installCommand !== undefined && { installCommand }),
      ...(buildCommand !== undefined && { buildCommand }),
      ...(startCommand && { startCommand }),
      ...(staticOutput !== undefined && { staticOutput: staticOf(app, staticOutput) }),
      ...(port !== undefined && { port }),
    },
  });
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
export function shownPlan({ app, source, dockerfile, buildKey, image, run, buildArgs, secrets }: Recipe) {
  const { port, health, releaseCommand, processes, replicas, memoryMb, cpus, volumes } = run({
    exposedPorts: [],
    user: '',
  });
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
