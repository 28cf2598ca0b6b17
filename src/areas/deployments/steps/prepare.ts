/** What will be built and run, what is there already, and the files for the build on their way to the server. */
import { addressesOf, type BuiltImage, type InspectedTarget, type Target } from '../../../engine/engine.ts';
import { hasCrons, type PlannedRun } from '../../../engine/release-spec.ts';
import type { Json } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import type { Queryable } from '../../../store/database.ts';
import { refuseRunOnCluster } from '../../environments/placement/on-cluster.ts';
import { placementsOf } from '../../environments/placement/placements.ts';
import { readRelease } from '../../releases/stored-releases.ts';
import { hasServices } from '../../services/read-services.ts';
import { type DecidedBuild, decideBuild, newInputs, rollbackInputs, shownPlan } from '../decide-inputs.ts';
import { type DeploymentInputs, storeInputs } from '../inputs.ts';
import * as queries from '../queries.ts';
import { commitSource } from './commit-source.ts';
import { releaseBefore } from './fetch.ts';
import { type DeployStepContext, inputsOf, outputOf, placeOf, targetOf } from './step-context.ts';

/** Looks at the server, and decides once what every later step works with. */
export async function plan(work: DeployStepContext): Promise<Json> {
  const { ctx, workspaceId, deployment, environment } = work;
  const { currentReleaseId, currentDeploymentId } = environment;
  const live = currentReleaseId && (await readRelease(ctx.db, ctx.sealer, workspaceId, currentReleaseId));
  const here = await placeOf(work);
  const decided = await decideInputs(work, live?.imageDigest ?? null);
  if (here.clusterId !== null) refuseRunOnCluster(decided.run);
  const { instances, image, images } = decided;
  if (image)
    work.step.log('The image for these files and settings is there already: nothing has to be built.');
  const old = instances.filter((each) => each.deploymentId !== deployment.id);
  const previous =
    currentReleaseId && currentDeploymentId
      ? { deploymentId: currentDeploymentId, releaseId: currentReleaseId }
      : null;
  const places = await placementsOf(ctx.db, workspaceId, environment.id);
  return {
    found: image ? { id: image.id, exposedPorts: [...image.exposedPorts], user: image.user } : null,
    tags: images.map(({ name }) => name),
    imageIds: Object.fromEntries(
      images.filter(({ id }) => isOnly(images, id)).map(({ name, id }) => [name, id]),
    ),
    old: old.map(({ name, process, address, isRunning }) => ({
      name,
      process,
      address: address ?? '',
      isRunning,
    })),
    oldPort: previous && live ? live.run.port : null,
    taken: [...addressesOf(instances)],
    previous,
    previousServerIds: places.map(({ serverId }) => serverId).filter((id) => id !== here.serverId),
    idle: await idleSteps(work, decided, live ? live.run : null),
  };
}

/** Services that are added later come by work of their own, in the same queue. */
async function idleSteps(
  { ctx, workspaceId, deployment, environment }: DeployStepContext,
  { image, run }: Pick<Seen, 'image' | 'run'>,
  liveRun: Seen['run'] | null,
): Promise<string[]> {
  // It has run for that release when it was new; what came after it is not undone by running it again.
  const isReleased = run.releaseCommand === null || deployment.trigger === 'rollback';
  return [
    ...(image ? ['send', 'build'] : []),
    ...((await hasServices(ctx.db, workspaceId, environment.id)) ? [] : ['services']),
    ...(isReleased ? ['release'] : []),
    ...(run.processes.length === 0 ? ['processes'] : []),
    ...(hasCrons(run) || (liveRun && hasCrons(liveRun)) ? [] : ['crons']),
  ];
}

/** Of several names for one image, each is removed by itself. */
function isOnly(images: InspectedTarget['images'], id: string): boolean {
  return images.filter((each) => each.id === id).length === 1;
}

interface Seen extends Pick<InspectedTarget, 'instances' | 'images'> {
  readonly image: BuiltImage | undefined;
  /** How it will run. */
  readonly run: PlannedRun;
}

/** And what is on the server of it: whether a release can be put back without a build is seen by the same look. */
async function decideInputs(work: DeployStepContext, liveImage: string | null): Promise<Seen> {
  const { ctx, workspaceId, deployment } = work;
  const { wanted } = deployment;
  const scope = { workspaceId, environmentId: work.environment.id };
  const look = async (image: string | null) => {
    const target = await targetOf(work);
    return { target, ...(await target.inspect(image)) };
  };
  if (!('release' in wanted)) {
    // What runs is likely to be of the same files. Both to their end: a step that has failed leaves nothing running.
    const [built, seen] = await Promise.allSettled([buildOf(work), look(liveImage)]);
    if (built.status === 'rejected') throw built.reason;
    if (seen.status === 'rejected') throw seen.reason;
    const decided = built.value;
    logBuild(work, decided);
    await store(work, shownPlan(decided), (tx) => newInputs(tx, ctx, scope, decided));
    return withImage(seen.value, decided);
  }
  const { plan: shown, release } = await releaseBefore(work);
  const seen = await withImage(await look(release.imageDigest), release);
  const rebuilt = seen.image ? null : await buildOf(work);
  const { variables } = wanted;
  await store(work, shown, (tx) => rollbackInputs(tx, ctx, scope, { release, variables, rebuilt }));
  const { run } = release;
  return rebuilt ? withImage(await look(null), { image: rebuilt.image, run }) : seen;
}

async function withImage(
  { target, instances, images, likelyImage }: InspectedTarget & { readonly target: Target },
  { image: name, run }: Pick<DecidedBuild, 'image' | 'run'>,
): Promise<Seen> {
  const found = images.find((each) => each.name === name);
  const isLikely = found !== undefined && found.id === likelyImage?.id;
  const image = isLikely ? likelyImage : found && (await target.readImage(found.id));
  return { instances, images, image, run };
}

/** Together, and only while the lease is held: one who was replaced must not change what the successor works with. */
function store(
  { ctx, workspaceId, deployment, step }: DeployStepContext,
  shown: queries.DeploymentRow['plan'],
  decide: (tx: Queryable) => Promise<DeploymentInputs>,
): Promise<void> {
  return ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await storeInputs(tx, ctx.sealer, workspaceId, deployment.id, await decide(tx));
    if (shown) await queries.setPlan(tx, workspaceId, deployment.id, shown);
  });
}

function logBuild({ step }: DeployStepContext, { app, build }: DecidedBuild): void {
  const how =
    build.source.kind === 'generated' ? 'a Dockerfile written for it' : `its own ${build.source.path}`;
  step.log(`${app.framework ?? app.language} app in «${app.path}», built with ${how}.`);
}

async function buildOf(work: DeployStepContext): Promise<DecidedBuild> {
  const { ctx, workspaceId, environment, deployment, step } = work;
  const { signal } = step;
  const { commit, tree } = outputOf(work, 'fetch');
  const { sha } = commit;
  const source = await commitSource(work);
  // There already, unless the mirror was removed, or an older release has to be built once more.
  const there = await source.fetch({ sha });
  return decideBuild(ctx, {
    workspaceId,
    environmentId: environment.id,
    serverId: deployment.serverId,
    mirror: source.open(),
    rootDirectory: source.rootDirectory,
    sha,
    tree: tree === '' ? there.tree : tree,
    signal,
  });
}

export async function send(work: DeployStepContext): Promise<Json> {
  const { step } = work;
  if (outputOf(work, 'plan').found) return { isBuilt: false };
  const { build } = await inputsOf(work);
  if (!build) throw new Error('an image that was there is to be built');
  const { commit } = outputOf(work, 'fetch');
  const context = await (await commitSource(work)).gather(commit.sha);
  for (const warning of context.warnings) step.log(`Warning: ${warning}`);
  const generated = build.source.kind === 'generated';
  const files = [
    ...(generated ? [{ path: 'Dockerfile', content: build.dockerfile }] : []),
    ...(generated ? [{ path: 'Dockerfile.dockerignore', content: build.dockerignore }] : []),
    ...[...build.secrets].map(([name, value]) => ({ path: `secrets/${name}`, content: value.reveal() })),
  ];
  const target = await targetOf(work);
  await target.sendBuildContext(work.deployment.id, { tar: context.tar({ signal: step.signal }), files });
  return { isBuilt: true };
}

export async function unsend(work: DeployStepContext): Promise<void> {
  const target = await targetOf(work);
  await target.removeBuildContext(work.deployment.id);
}
