/** The new release takes over: proven through the proxy, given the traffic, the old one counted down, pointed away from, and stopped. */
import { endpointsOf, type Front, type Target } from '../../../engine/engine.ts';
import { hasCrons, requiresRecreate, webProcess } from '../../../engine/release-spec.ts';
import type { DeploymentId, ReleaseId, ServerId } from '../../../ids.ts';
import { assertLease } from '../../../operations/operations.ts';
import { ensureCertificates, removeCertificates } from '../../domains/installed-certificates.ts';
import { frontOf } from '../../domains/proxy-names.ts';
import { setSeen } from '../../environments/due-reconciles.ts';
import { setCurrent } from '../../environments/environment-state.ts';
import { removePlacement } from '../../environments/placement/placements.ts';
import type { Release } from '../../releases/releases.ts';
import { readRelease, recentImages } from '../../releases/stored-releases.ts';
import { markServicesDown } from '../../services/stop-services.ts';
import * as queries from '../queries.ts';
import { releaseOf } from './start.ts';
import { type DeployRowsContext, type DeployStepContext, outputOf, targetOf } from './step-context.ts';

interface Sides {
  readonly target: Target;
  readonly release: Release;
  /** What serves before, and what is to serve after. */
  readonly before: Front;
  readonly after: Front;
  readonly oldWeb: readonly { readonly name: string; readonly process: string; readonly address: string }[];
  readonly oldNames: readonly string[];
}

async function sidesOf(work: DeployStepContext): Promise<Sides> {
  const [release, target] = await Promise.all([releaseOf(work), targetOf(work)]);
  const { old, oldPort } = outputOf(work, 'plan');
  const running = old.filter(({ isRunning }) => isRunning);
  const oldWeb = running.filter(({ process }) => process === webProcess);
  const { run } = release;
  const { web } = outputOf(work, 'start');
  const after = await frontOf(work.ctx.db, target.placement, run, endpointsOf(web, run.port));
  return {
    target,
    release,
    oldWeb,
    oldNames: namesOf(running),
    before: { ...after, endpoints: oldPort === null ? [] : endpointsOf(oldWeb, oldPort) },
    after,
  };
}

const namesOf = (each: readonly { readonly name: string }[]) => each.map(({ name }) => name);

export async function prove(work: DeployStepContext): Promise<undefined> {
  const { target, release, before, after } = await sidesOf(work);
  const { previous, previousServerIds } = outputOf(work, 'plan');
  // New on this server: its names must be shown there before anyone is sent to them.
  if (previous === null || previousServerIds.length > 0) await ensureCertificates(work.ctx, target);
  // Where the old one had to step aside it is stopped: it is held for, not listed.
  const now = requiresRecreate(release.run) ? { ...before, endpoints: [] } : before;
  await target.prove(now, after.endpoints, release);
}

export async function unprove(work: DeployStepContext): Promise<void> {
  const { target, before, after, release } = await sidesOf(work);
  if (before.endpoints.length === 0) {
    const wasThere = outputOf(work, 'plan').previous !== null;
    return wasThere ? target.refuseRequests(after) : target.removeFront();
  }
  await target.drain(namesOf(after.endpoints), release.run.drainSeconds);
  await target.removeFromProxy(namesOf(after.endpoints));
}

/** One trip for both: the old ones lose their requests and answer those that they have. */
export async function switchTo(work: DeployStepContext): Promise<undefined> {
  const { target, after, oldWeb, release } = await sidesOf(work);
  const { drainSeconds } = release.run;
  const isLeft = oldWeb.length > 0 && !requiresRecreate(release.run);
  const left = await target.switchTo(after, { names: isLeft ? namesOf(oldWeb) : [], drainSeconds });
  work.step.log('The new release takes the requests.');
  if (!isLeft) return;
  const count = [...left.values()].reduce((sum, each) => sum + each, 0);
  work.step.log(
    count === 0
      ? 'The old release has answered its last request.'
      : `${count} connections to the old release are still open after ${drainSeconds} s and are closed.`,
  );
}

/** The old one still runs: it is stopped only once the environment points to the new one. */
export async function switchBack(work: DeployStepContext): Promise<void> {
  const { target, before, after, release } = await sidesOf(work);
  // One that had to step aside is stopped still: requests wait until the undo of the start has brought it back.
  if (requiresRecreate(release.run)) await target.holdRequests({ ...after, endpoints: [] });
  else if (before.endpoints.length > 0) await target.switchTo(before);
}

/** The timers of the new release instead of those of the old one. */
export async function crons(work: DeployStepContext): Promise<undefined> {
  const [release, old] = await Promise.all([releaseOf(work), previousRelease(work)]);
  if (!hasCrons(release.run) && !(old && hasCrons(old.run))) return;
  await (await targetOf(work)).setCrons(release.run, work.deployment.id);
}

export async function uncrons(work: DeployStepContext): Promise<void> {
  const target = await targetOf(work);
  const old = await previousRelease(work);
  const { previous } = outputOf(work, 'plan');
  if (old && previous) await target.setCrons(old.run, previous.deploymentId as DeploymentId);
  else await target.removeCrons();
}

async function previousRelease(work: DeployStepContext): Promise<Release | null> {
  const { ctx, workspaceId } = work;
  const { previous } = outputOf(work, 'plan');
  return previous && readRelease(ctx.db, ctx.sealer, workspaceId, previous.releaseId as ReleaseId);
}

export async function promote(work: DeployRowsContext): Promise<undefined> {
  const { tx, ctx, workspaceId, deployment, environment } = work;
  const releaseId = outputOf(work, 'create-release').releaseId as ReleaseId;
  const current = { deploymentId: deployment.id, releaseId };
  await setCurrent(tx, workspaceId, environment.id, current, ctx.clock.now());
  await setSeen(tx, workspaceId, environment.id, {});
}

export async function demote(work: DeployStepContext): Promise<void> {
  const { ctx, workspaceId, deployment, environment } = work;
  if (environment.currentDeploymentId !== deployment.id) return;
  const { previous } = outputOf(work, 'plan');
  const before = previous && {
    deploymentId: previous.deploymentId as DeploymentId,
    releaseId: previous.releaseId as ReleaseId,
  };
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, work.step);
    await setCurrent(tx, workspaceId, environment.id, before, ctx.clock.now());
  });
}

/**
 * The old one runs until the environment points to the new one: up to there the way back is a switch, and nobody has waited
 * for its end.
 */
export async function retire(work: DeployStepContext): Promise<undefined> {
  const { target, release, oldWeb, oldNames } = await sidesOf(work);
  if (oldNames.length > 0) await target.stopInstances(oldNames, release.run.stopSeconds, namesOf(oldWeb));
}

/** What is left of the old release, of the build, and of a server that the environment has moved away from. */
export async function cleanUp(work: DeployStepContext): Promise<undefined> {
  const { ctx, workspaceId, environment } = work;
  const target = await targetOf(work);
  const { old, tags, imageIds = {}, previousServerIds } = outputOf(work, 'plan');
  const before = await queries.listLiveReleases(ctx.db, workspaceId, environment.id);
  const live = [
    outputOf(work, 'create-release').releaseId as ReleaseId,
    ...before.map(({ releaseId }) => releaseId),
  ];
  const keep = await recentImages(ctx.db, workspaceId, live);
  const images = tags.filter((tag) => !keep.has(tag)).map((name) => ({ name, id: imageIds[name] ?? null }));
  await target.cleanUp({ deploymentId: work.deployment.id, instances: namesOf(old), images });
  for (const serverId of previousServerIds) {
    const there = await targetOf(work, serverId as ServerId);
    await there.takeDown({ deleteData: false });
    await markServicesDown(ctx, there.placement, { deleteData: false });
    await removeCertificates(ctx.db, there);
    await ctx.db.transaction((tx) => removePlacement(tx, workspaceId, environment.id, serverId as ServerId));
  }
}
