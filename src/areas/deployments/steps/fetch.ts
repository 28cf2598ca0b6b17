/** The commit that is wanted, into the mirror. What goes back to an older release has it already, and needs no fetch. */
import { Fault } from '../../../fault.ts';
import type { Json } from '../../../operations/definition.ts';
import type { ReleasedCommit } from '../../releases/releases.ts';
import { readRelease } from '../../releases/stored-releases.ts';
import * as queries from '../queries.ts';
import { commitSource } from './commit-source.ts';
import type { DeployStepContext, OutputOf } from './step-context.ts';

export async function fetchCommit(work: DeployStepContext): Promise<Json> {
  const { ctx, workspaceId, deployment, environment } = work;
  const serverId = environment.serverId;
  if (serverId === null)
    throw new Fault('server_not_linked', 'The environment stands on no server any more.');
  const found = 'release' in deployment.wanted ? await releasedCommit(work) : await fetched(work);
  await queries.setCommit(ctx.db, workspaceId, deployment.id, found.commit, serverId);
  return { commit: { ...found.commit }, tree: found.tree };
}

async function releasedCommit(work: DeployStepContext): Promise<OutputOf<'fetch'>> {
  const { release } = await releaseBefore(work);
  return { commit: release.commit, tree: '' };
}

/** The release that is gone back to, with the plan that was shown for it. */
export async function releaseBefore({ ctx, workspaceId, deployment }: DeployStepContext) {
  const before =
    deployment.rollbackOf && (await queries.findDeployment(ctx.db, workspaceId, deployment.rollbackOf));
  if (!before || before.releaseId === null) throw nothingThere();
  const release = await readRelease(ctx.db, ctx.sealer, workspaceId, before.releaseId);
  return { release, plan: before.plan };
}

export function nothingThere(): Fault {
  return new Fault('nothing_to_roll_back', 'The deployment has no release that could be put back.', {
    hint: 'Choose one that has succeeded.',
  });
}

async function fetched(work: DeployStepContext): Promise<OutputOf<'fetch'>> {
  const { ctx, deployment, step } = work;
  const { wanted } = deployment;
  if ('release' in wanted) throw nothingThere();
  const source = await commitSource(work);
  ctx.analyst.warm();
  const commit = await source.fetch('sha' in wanted ? { sha: wanted.sha } : { branch: wanted.branch });
  const { sha, message, authorName: author, tree } = commit;
  const told: ReleasedCommit = { sha, message: message.slice(0, 5_000), author, branch: wanted.branch };
  const what = deployment.uploadId === null ? 'Commit' : 'Upload';
  step.log(`${what} ${sha.slice(0, 12)} by ${author}: ${message.split('\n', 1)[0] ?? ''}`);
  return { commit: told, tree };
}
