/** The image: built on the server as work that outlives us, or found there. What it becomes is a release. */
import { createHmac } from 'node:crypto';
import { Fault } from '../../../fault.ts';
import type { Json } from '../../../operations/definition.ts';
import { createRelease } from '../../releases/stored-releases.ts';
import { openInputs } from '../inputs.ts';
import { runPlanOf } from '../plan.ts';
import * as queries from '../queries.ts';
import {
  type DeployRowsContext,
  type DeployStepContext,
  inputsOf,
  outputOf,
  readOutput,
  targetOf,
} from './step-context.ts';

export async function build(work: DeployStepContext): Promise<Json> {
  const { step } = work;
  if (!outputOf(work, 'send').isBuilt) return { built: null };
  const { buildKey, build: spec } = await inputsOf(work);
  if (!spec) throw new Error('files were sent that nobody asked to build');
  const { source, buildArgs, secrets, cpus, memoryMb } = spec;
  const own = source.kind === 'dockerfile' ? { dockerfilePath: source.path } : {};
  const stage = source.kind === 'dockerfile' && source.target !== null ? { target: source.target } : {};
  const asked = {
    tag: buildKey,
    cacheScope: cacheScopeOf(work),
    ...own,
    ...stage,
    buildArgs,
    secretKeys: [...secrets.keys()],
    cpus,
    memoryMb,
  };
  const output = {
    signal: step.signal,
    secrets: [...secrets.values()],
    line: (text: string) => step.log(text),
  };
  const target = await targetOf(work);
  try {
    const { id, exposedPorts, user } = await target.buildImage(work.deployment.id, asked, output);
    return { built: { id, exposedPorts: [...exposedPorts], user } };
  } catch (error) {
    if (!(error instanceof Fault) || !['remote_failed', 'work_lost'].includes(error.code)) throw error;
    throw new Fault('build_lost', 'The build was cut off before it could end.', {
      ...(error.evidence !== undefined && { evidence: error.evidence }),
      cause: error,
    });
  }
}

/**
 * Environments do not trust each other with what their builds leave behind: a preview is built of what a stranger has
 * sent, and production must not run it. It is a name on the server, so it has to begin with a letter.
 */
function cacheScopeOf({ ctx, workspaceId, environment }: DeployStepContext): string {
  const hmac = createHmac('sha256', ctx.masterKeys.derive('build-cache'));
  return `c${hmac.update(`${workspaceId}\0${environment.id}`).digest('hex').slice(0, 32)}`;
}

export async function unbuild(work: DeployStepContext): Promise<void> {
  const target = await targetOf(work);
  await target.stopBuild(work.deployment.id);
}

/** A release of what was built, as it was planned; or the one that is gone back to. */
export async function makeRelease(work: DeployRowsContext): Promise<Json> {
  const { tx, ctx, workspaceId, deployment, environment, step } = work;
  if (deployment.releaseId !== null) return { releaseId: deployment.releaseId };
  const { image, buildKey, release } = await openInputs(tx, ctx.sealer, workspaceId, deployment.id);
  const facts = readOutput(step.outputs.get('build'), 'build')?.built ?? outputOf(work, 'plan').found;
  if (!facts) throw new Error('neither built nor found');
  if (release.kind === 'earlier') {
    await queries.setRelease(tx, workspaceId, deployment.id, release.id, facts.id);
    return { releaseId: release.id };
  }
  const { commit } = outputOf(work, 'fetch');
  const { variables } = release;
  const run = runPlanOf(release.run, facts);
  const made = {
    environmentId: environment.id,
    image,
    imageDigest: facts.id,
    buildKey,
    commit,
    run,
    variables,
  };
  const releaseId = await createRelease(tx, ctx.sealer, workspaceId, made, ctx.clock.now());
  await queries.setRelease(tx, workspaceId, deployment.id, releaseId, facts.id);
  return { releaseId };
}
