/** What will be built and run, what is there already, and the files for the build on their way to the server. */
import { removeContext, sendContext } from '../../../adapters/docker/build-image.ts';
import type { Json } from '../../../operations/definition.ts';
import { placesOf } from '../../environments/places.ts';
import { mirrorKeyOf, sourceOf } from '../../projects/projects.ts';
import { readableRepository } from '../../projects/read-source.ts';
import { addressesOf, deploymentOf, lookAtSite, processOf } from '../../releases/look-at-site.ts';
import { readRelease } from '../../releases/releases.ts';
import * as queries from '../queries.ts';
import { type Recipe, recipeOf, shownPlan } from '../recipe.ts';
import { outputOf, siteOf, type Working } from './working.ts';

export async function plan(work: Working): Promise<Json> {
  const { ctx, workspaceId, deployment, environment } = work;
  const wantedImage = await imageOf(work);
  const site = await siteOf(work);
  const { containers, image, tags } = await lookAtSite(site, wantedImage);
  const old = containers.filter((each) => deploymentOf(each) !== deployment.id);
  const { currentReleaseId, currentDeploymentId } = environment;
  const previous =
    currentReleaseId && currentDeploymentId
      ? { deploymentId: currentDeploymentId, releaseId: currentReleaseId }
      : null;
  const run = previous && (await readRelease(ctx.db, ctx.sealer, workspaceId, previous.releaseId)).run;
  const places = await placesOf(ctx.db, workspaceId, environment.id);
  return {
    image: wantedImage,
    found: image ? { id: image.id, exposedPorts: [...image.exposedPorts], user: image.user } : null,
    tags: [...tags],
    old: old.map((each) => ({
      name: each.name,
      process: processOf(each),
      address: each.address ?? '',
      isRunning: each.status === 'running' || each.status === 'restarting',
    })),
    oldPort: run?.port ?? null,
    taken: [...addressesOf(containers)],
    previous,
    previousServerIds: places.map(({ serverId }) => serverId).filter((id) => id !== deployment.serverId),
  };
}

/** And shows the plan, where there is one to make: an older release brings its own. */
async function imageOf(work: Working): Promise<string> {
  const { ctx, workspaceId, deployment, step } = work;
  if ('release' in deployment.wanted) {
    const before =
      deployment.rollbackOf && (await queries.findDeployment(ctx.db, workspaceId, deployment.rollbackOf));
    if (!before || before.releaseId === null) throw new Error('the release is gone');
    if (before.plan) await queries.setPlan(ctx.db, workspaceId, deployment.id, before.plan);
    return (await readRelease(ctx.db, ctx.sealer, workspaceId, before.releaseId)).image;
  }
  const recipe = await makeRecipe(work);
  const shown = shownPlan(recipe);
  await queries.setPlan(ctx.db, workspaceId, deployment.id, shown);
  const how =
    recipe.source.kind === 'generated' ? 'a Dockerfile written for it' : `its own ${recipe.source.path}`;
  step.log(`${recipe.app.framework ?? recipe.app.language} app in «${recipe.app.path}», built with ${how}.`);
  return recipe.image;
}

/** From the store and the mirror, each time anew: secrets are in no journal. */
export async function makeRecipe(work: Working): Promise<Recipe> {
  const { ctx, workspaceId, environment, step } = work;
  const { commit, tree } = outputOf(work, 'fetch');
  const repository = await readableRepository(ctx, workspaceId, environment.projectId);
  const source = await sourceOf(ctx, workspaceId, repository);
  const key = mirrorKeyOf(workspaceId, repository.cloneUrl);
  // There already, unless the mirror was thrown away, or an older release has to be built once more.
  const there = await (await ctx.mirrors()).fetch(key, source, {
    want: { sha: commit.sha },
    signal: step.signal,
  });
  return recipeOf(ctx, {
    workspaceId,
    environmentId: environment.id,
    settings: environment.settings,
    repository,
    sha: commit.sha,
    tree: tree === '' ? there.commit.tree : tree,
    signal: step.signal,
  });
}

export function buildFolder(work: Working): string {
  return `/var/lib/slipway/builds/${work.deployment.id}`;
}

export async function send(work: Working): Promise<Json> {
  const { ctx, workspaceId, environment, step } = work;
  const { image, found } = outputOf(work, 'plan');
  if (found) {
    step.log('The image for these files and settings is there already: nothing has to be built.');
    return { image, buildKey: image.slice(image.indexOf(':') + 1), isBuilt: false };
  }
  const recipe = await makeRecipe(work);
  const repository = await readableRepository(ctx, workspaceId, environment.projectId);
  const source = await sourceOf(ctx, workspaceId, repository);
  const key = mirrorKeyOf(workspaceId, repository.cloneUrl);
  const { commit } = outputOf(work, 'fetch');
  const context = await (await ctx.mirrors()).gather(key, source, commit.sha, step.signal);
  for (const warning of context.warnings) step.log(`Warning: ${warning}`);
  const { remote, fence, signal } = await siteOf(work);
  const generated = recipe.source.kind === 'generated';
  const files = [
    ...(generated ? [{ path: 'Dockerfile', content: recipe.dockerfile, mode: 0o600 }] : []),
    ...(generated ? [{ path: 'Dockerfile.dockerignore', content: recipe.dockerignore, mode: 0o600 }] : []),
    ...[...recipe.secrets].map(([name, value]) => ({
      path: `secrets/${name}`,
      content: value.reveal(),
      mode: 0o600,
    })),
  ];
  await sendContext(
    remote,
    { folder: buildFolder(work), tar: context.tar({ signal }), files, fence },
    signal,
  );
  return { image: recipe.image, buildKey: recipe.buildKey, isBuilt: true };
}

export async function unsend(work: Working): Promise<void> {
  const { remote } = await siteOf(work);
  await removeContext(remote, buildFolder(work));
}
