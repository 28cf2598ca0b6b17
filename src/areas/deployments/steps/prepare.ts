/** What will be built and run, what is there already, and the files for the build on their way to the server. */
import { removeContext, sendContext } from '../../../adapters/docker/build-image.ts';
import type { Json } from '../../../operations/definition.ts';
import { mustHold } from '../../../operations/operations.ts';
import type { Queryable } from '../../../store/database.ts';
import { placesOf } from '../../environments/places.ts';
import { mirrorKeyOf, sourceOf } from '../../projects/projects.ts';
import { readableRepository } from '../../projects/read-source.ts';
import { addressesOf, deploymentOf, lookAtSite, processOf } from '../../releases/look-at-site.ts';
import { readRelease } from '../../releases/releases.ts';
import { type DecidedBuild, decideBuild, newInputs, rollbackInputs, shownPlan } from '../decide-inputs.ts';
import { type DeploymentInputs, storeInputs } from '../inputs.ts';
import * as queries from '../queries.ts';
import { releaseBefore } from './fetch.ts';
import { inputsOf, outputOf, siteOf, type Working } from './working.ts';

/** Looks at the server, and decides once what every later step works with. */
export async function plan(work: Working): Promise<Json> {
  const { ctx, workspaceId, deployment, environment } = work;
  const inputs = await decideInputs(work);
  const site = await siteOf(work);
  const { containers, image, tags } = await lookAtSite(site, inputs.image);
  const old = containers.filter((each) => deploymentOf(each) !== deployment.id);
  const { currentReleaseId, currentDeploymentId } = environment;
  const previous =
    currentReleaseId && currentDeploymentId
      ? { deploymentId: currentDeploymentId, releaseId: currentReleaseId }
      : null;
  const run = previous && (await readRelease(ctx.db, ctx.sealer, workspaceId, previous.releaseId)).run;
  const places = await placesOf(ctx.db, workspaceId, environment.id);
  return {
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

async function decideInputs(work: Working): Promise<DeploymentInputs> {
  const { ctx, workspaceId, deployment } = work;
  const { wanted } = deployment;
  const scope = { workspaceId, environmentId: work.environment.id };
  if (!('release' in wanted)) {
    const decided = await buildOf(work);
    logBuild(work, decided);
    return store(work, shownPlan(decided), (tx) => newInputs(tx, ctx, scope, decided));
  }
  const { plan: shown, release } = await releaseBefore(work);
  const { image } = await lookAtSite(await siteOf(work), release.image);
  const rebuilt = image ? null : await buildOf(work);
  const { variables } = wanted;
  return store(work, shown, (tx) => rollbackInputs(tx, ctx, scope, { release, variables, rebuilt }));
}

/** Together, and only while the lease is held: one who was replaced must not change what the successor works with. */
function store(
  { ctx, workspaceId, deployment, step }: Working,
  shown: queries.DeploymentRow['plan'],
  decide: (tx: Queryable) => Promise<DeploymentInputs>,
): Promise<DeploymentInputs> {
  return ctx.db.transaction(async (tx) => {
    await mustHold(tx, step);
    const inputs = await decide(tx);
    await storeInputs(tx, ctx.sealer, workspaceId, deployment.id, inputs);
    if (shown) await queries.setPlan(tx, workspaceId, deployment.id, shown);
    return inputs;
  });
}

function logBuild({ step }: Working, { app, build }: DecidedBuild): void {
  const how =
    build.source.kind === 'generated' ? 'a Dockerfile written for it' : `its own ${build.source.path}`;
  step.log(`${app.framework ?? app.language} app in «${app.path}», built with ${how}.`);
}

async function buildOf(work: Working): Promise<DecidedBuild> {
  const { ctx, workspaceId, environment, deployment, step } = work;
  const { signal } = step;
  const { commit, tree } = outputOf(work, 'fetch');
  const { sha } = commit;
  const { repository, source, key } = await repositoryOf(work);
  // There already, unless the mirror was removed, or an older release has to be built once more.
  const there = await (await ctx.mirrors()).fetch(key, source, { want: { sha }, signal });
  return decideBuild(ctx, {
    workspaceId,
    environmentId: environment.id,
    serverId: deployment.serverId,
    repository,
    sha,
    tree: tree === '' ? there.commit.tree : tree,
    signal,
  });
}

async function repositoryOf({ ctx, workspaceId, environment }: Working) {
  const repository = await readableRepository(ctx, workspaceId, environment.projectId);
  const source = await sourceOf(ctx, workspaceId, repository);
  return { repository, source, key: mirrorKeyOf(workspaceId, repository.cloneUrl) };
}

export function buildFolder(work: Working): string {
  return `/var/lib/slipway/builds/${work.deployment.id}`;
}

export async function send(work: Working): Promise<Json> {
  const { ctx, step } = work;
  if (outputOf(work, 'plan').found) {
    step.log('The image for these files and settings is there already: nothing has to be built.');
    return { isBuilt: false };
  }
  const { build } = await inputsOf(work);
  if (!build) throw new Error('an image that was there is to be built');
  const { source, key } = await repositoryOf(work);
  const { commit } = outputOf(work, 'fetch');
  const context = await (await ctx.mirrors()).gather(key, source, commit.sha, step.signal);
  for (const warning of context.warnings) step.log(`Warning: ${warning}`);
  const { remote, fence, signal } = await siteOf(work);
  const generated = build.source.kind === 'generated';
  const files = [
    ...(generated ? [{ path: 'Dockerfile', content: build.dockerfile, mode: 0o600 }] : []),
    ...(generated ? [{ path: 'Dockerfile.dockerignore', content: build.dockerignore, mode: 0o600 }] : []),
    ...[...build.secrets].map(([name, value]) => ({
      path: `secrets/${name}`,
      content: value.reveal(),
      mode: 0o600,
    })),
  ];
  const sent = { folder: buildFolder(work), tar: context.tar({ signal }), files, fence };
  await sendContext(remote, sent, signal);
  return { isBuilt: true };
}

export async function unsend(work: Working): Promise<void> {
  const { remote } = await siteOf(work);
  await removeContext(remote, buildFolder(work));
}
