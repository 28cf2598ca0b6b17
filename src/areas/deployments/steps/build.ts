/** The image: built on the server as work that outlives us, or found there. What it becomes is a release. */
import { buildImage } from '../../../adapters/docker/build-image.ts';
import { Fault } from '../../../fault.ts';
import type { Json } from '../../../operations/definition.ts';
import { openVariables } from '../../environments/environment-state.ts';
import { labelsOf } from '../../environments/place.ts';
import { keepRelease } from '../../releases/keep-release.ts';
import { type Release, readRelease } from '../../releases/releases.ts';
import { readServer } from '../../servers/read-server.ts';
import { serviceVariables } from '../../services/service-variables.ts';
import * as queries from '../queries.ts';
import { nothingThere } from './fetch.ts';
import { buildFolder, makeRecipe } from './prepare.ts';
import { outputOf, siteOf, type Working } from './working.ts';

function buildUnit({ deployment }: Working): string {
  return `slipway-${deployment.id}-build`;
}

export async function build(work: Working): Promise<Json> {
  const { step } = work;
  const { image, isBuilt } = outputOf(work, 'send');
  if (!isBuilt) return { built: null };
  const recipe = await makeRecipe(work);
  const { remote, place, fence } = await siteOf(work);
  const { source } = recipe;
  const own = source.kind === 'dockerfile' ? { dockerfilePath: source.path } : {};
  const target = source.kind === 'dockerfile' && source.target !== null ? { target: source.target } : {};
  const wish = {
    unit: buildUnit(work),
    folder: buildFolder(work),
    tag: image,
    fence,
    ...own,
    ...target,
    labels: labelsOf(place, 'image'),
    buildArgs: recipe.buildArgs,
    secretKeys: [...recipe.secrets.keys()],
    ...(await shareOf(work)),
  };
  const secrets = [...recipe.secrets.values()];
  const following = { signal: step.signal, secrets, line: (text: string) => step.log(text) };
  try {
    const { id, exposedPorts, user } = await buildImage(remote, wish, following);
    return { built: { id, exposedPorts: [...exposedPorts], user } };
  } catch (error) {
    if (!(error instanceof Fault) || !['remote_failed', 'work_lost'].includes(error.code)) throw error;
    throw new Fault('build_lost', 'The build was cut off before it could end.', {
      ...(error.evidence !== undefined && { evidence: error.evidence }),
      cause: error,
    });
  }
}

/** Half of the memory and most of the processors unless someone said otherwise: what runs there goes on. */
async function shareOf({ ctx, workspaceId, deployment, environment }: Working) {
  const { facts } = await readServer(ctx.db, workspaceId, deployment.serverId);
  const { buildCpus, buildMemoryMb } = environment.settings;
  const [cpus, memory] = [facts?.cpus ?? 1, facts?.memoryMb ?? 1024];
  return {
    cpus: buildCpus ?? Math.max(0.5, cpus * 0.75),
    memoryMb: buildMemoryMb ?? Math.max(512, Math.round(memory / 2)),
  };
}

export async function unbuild(work: Working): Promise<void> {
  const { remote, fence } = await siteOf(work);
  await remote.stopUnit(buildUnit(work), fence);
}

/** A release of what was built, with the variables of this moment; or the one that is gone back to. */
export async function keep(work: Working): Promise<Json> {
  const { ctx, workspaceId, deployment, environment } = work;
  const { image, buildKey, isBuilt } = outputOf(work, 'send');
  if (deployment.releaseId !== null) return { releaseId: deployment.releaseId };
  const { commit } = outputOf(work, 'fetch');
  const before = await releaseBefore(work);
  if (before && !isBuilt && 'release' in deployment.wanted && deployment.wanted.variables === 'then') {
    await queries.setRelease(ctx.db, workspaceId, deployment.id, before.id, before.imageDigest);
    return { releaseId: before.id };
  }
  const facts = outputOf(work, 'build').built ?? outputOf(work, 'plan').found;
  if (!facts) throw new Error('neither built nor found');
  const planned = before?.run ?? (await makeRecipe(work)).run(facts);
  const keepsVariables = before && 'release' in deployment.wanted && deployment.wanted.variables === 'then';
  const now = keepsVariables ? undefined : await variablesOf(work, planned.askedOfServices);
  const variables = now?.variables ?? before?.variables ?? new Map();
  const run = now ? { ...planned, plainKeys: now.plainKeys } : planned;
  const releaseId = await ctx.db.transaction(async (tx) => {
    const release = {
      environmentId: environment.id,
      image,
      imageDigest: facts.id,
      buildKey,
      commit,
      run,
      variables,
    };
    const id = await keepRelease(tx, ctx.sealer, workspaceId, release, ctx.clock.now());
    await queries.setRelease(tx, workspaceId, deployment.id, id, facts.id);
    return id;
  });
  return { releaseId };
}

async function releaseBefore({ ctx, workspaceId, deployment }: Working): Promise<Release | undefined> {
  if (!('release' in deployment.wanted)) return undefined;
  const before =
    deployment.rollbackOf && (await queries.findDeployment(ctx.db, workspaceId, deployment.rollbackOf));
  if (!before || before.releaseId === null) throw nothingThere();
  return readRelease(ctx.db, ctx.sealer, workspaceId, before.releaseId);
}

/** What a user sets counts above what a service brings. */
async function variablesOf({ ctx, workspaceId, environment }: Working, asked: readonly string[]) {
  const brought = await serviceVariables(ctx.db, ctx.sealer, workspaceId, environment.id, asked);
  const own = await openVariables(ctx.db, ctx.sealer, workspaceId, environment.id);
  const atRunTime = own.filter(({ target }) => target !== 'build');
  const plainKeys = atRunTime.filter(({ isSecret }) => !isSecret).map(({ key }) => key);
  const values = atRunTime.map(({ key, value }) => [key, value] as const);
  return { variables: new Map([...brought, ...values]), plainKeys };
}
