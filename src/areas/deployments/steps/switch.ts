/** The new release takes over: proven through the proxy, given the traffic, the old one counted down, stopped, and pointed away from. */
import type { ProxyFront } from '../../../adapters/proxy/fronts.ts';
import type { DeploymentId, ReleaseId, ServerId } from '../../../ids.ts';
import { mustHold } from '../../../operations/operations.ts';
import { ensureCertificates, removeCertificates } from '../../domains/installed-certificates.ts';
import { routesOf } from '../../domains/proxy-names.ts';
import { setSeen } from '../../environments/due-looks.ts';
import { setCurrent } from '../../environments/environment-state.ts';
import type { Site } from '../../environments/place.ts';
import { removePlace } from '../../environments/places.ts';
import {
  drain as drainServers,
  forgetFront,
  holdRequests,
  letGo,
  prove as proveServers,
  proxyFront,
  refuseRequests,
  serversOf,
  takeOver,
} from '../../releases/go-live.ts';
import { recentImages } from '../../releases/recent-images.ts';
import { mustSwap, type Release, readRelease, secretsOf } from '../../releases/releases.ts';
import { clearAway, startAgain, stopContainers } from '../../releases/retire.ts';
import { endCrons, hasCrons, setCrons } from '../../releases/set-crons.ts';
import { webProcess } from '../../releases/start-release.ts';
import { takeDown } from '../../releases/take-down.ts';
import { waitHealthy } from '../../releases/wait-healthy.ts';
import * as queries from '../queries.ts';
import { releaseOf } from './start.ts';
import { outputOf, siteOf, type Working } from './working.ts';

interface Sides {
  readonly site: Site;
  readonly release: Release;
  /** What serves before, and what is to serve after. */
  readonly before: ProxyFront;
  readonly after: ProxyFront;
  readonly oldWeb: readonly { readonly name: string; readonly process: string; readonly address: string }[];
  readonly oldNames: readonly string[];
}

async function sidesOf(work: Working): Promise<Sides> {
  const release = await releaseOf(work);
  const site = await siteOf(work);
  const { old, oldPort } = outputOf(work, 'plan');
  const running = old.filter(({ isRunning }) => isRunning);
  const oldWeb = running.filter(({ process }) => process === webProcess);
  const { run } = release;
  const { web } = outputOf(work, 'start');
  const routes = await routesOf(work.ctx.db, work.workspaceId, work.environment.id);
  return {
    site,
    release,
    oldWeb,
    oldNames: running.map(({ name }) => name),
    before: proxyFront(site, run, routes, oldPort === null ? [] : serversOf(oldWeb, oldPort)),
    after: proxyFront(site, run, routes, serversOf(web, run.port)),
  };
}

const namesOf = (each: readonly { readonly name: string }[]) => each.map(({ name }) => name);

export async function prove(work: Working): Promise<undefined> {
  const { site, release, before, after } = await sidesOf(work);
  const { previous, previousServerIds } = outputOf(work, 'plan');
  // New on this server: its names must be shown there before anyone is sent to them.
  if (previous === null || previousServerIds.length > 0) await ensureCertificates(work.ctx, site);
  // Where the old one had to step aside it is stopped: it is held for, not listed.
  const now = mustSwap(release.run) ? { ...before, servers: [] } : before;
  await proveServers(site, now, after.servers, release);
}

export async function unprove(work: Working): Promise<void> {
  const { site, before, after, release } = await sidesOf(work);
  if (before.servers.length === 0) {
    const wasThere = outputOf(work, 'plan').previous !== null;
    return wasThere ? refuseRequests(site, after) : forgetFront(site, after);
  }
  await drainServers(site, before, namesOf(after.servers), release.run);
  await letGo(site, after, namesOf(after.servers));
}

export async function switchOver(work: Working): Promise<undefined> {
  const { site, after } = await sidesOf(work);
  await takeOver(site, after);
  work.step.log('The new release takes the requests.');
}

/** The old one still runs here, or was started again by the undo of a later step. */
export async function switchBack(work: Working): Promise<void> {
  const { site, before, after, release } = await sidesOf(work);
  // One that had to step aside is stopped still: requests wait until the undo of the start has brought it back.
  if (mustSwap(release.run)) await holdRequests(site, { ...after, servers: [] });
  else if (before.servers.length > 0) await takeOver(site, before);
}

export async function drain(work: Working): Promise<undefined> {
  const { site, after, oldWeb, release } = await sidesOf(work);
  if (oldWeb.length === 0 || mustSwap(release.run)) return;
  const left = await drainServers(site, after, namesOf(oldWeb), release.run);
  const count = [...left.values()].reduce((sum, each) => sum + each, 0);
  work.step.log(
    count === 0
      ? 'The old release has answered its last request.'
      : `${count} connections to the old release are still open after ${release.run.drainSeconds} s and are closed.`,
  );
}

/** Stopped, not removed: until the environment points to the new one, the way back is a start. */
export async function retire(work: Working): Promise<undefined> {
  const { site, release, after, oldWeb, oldNames } = await sidesOf(work);
  if (oldNames.length > 0) {
    await letGo(site, after, namesOf(oldWeb));
    await stopContainers(site, oldNames, release.run.stopSeconds);
  }
  const { previous } = outputOf(work, 'plan');
  const hadCrons = previous !== null && hasCrons((await previousRelease(work, previous.releaseId)).run);
  if (hadCrons || hasCrons(release.run)) await setCrons(site, release.run, work.deployment.id);
}

export async function unretire(work: Working): Promise<void> {
  const { site, release, before, oldWeb, oldNames } = await sidesOf(work);
  const { previous } = outputOf(work, 'plan');
  const old = previous && (await previousRelease(work, previous.releaseId));
  if (hasCrons(release.run) || (old && hasCrons(old.run))) {
    if (old && previous) await setCrons(site, old.run, previous.deploymentId as DeploymentId);
    else await endCrons(site);
  }
  // The undo of the start brings those back that had to step aside, once the new one is gone.
  if (oldNames.length === 0 || mustSwap(release.run) || !old) return;
  await startAgain(site, oldNames, release.run.stopSeconds);
  const secrets = secretsOf(old);
  await waitHealthy(site, { containers: oldWeb, run: old.run, secrets, tell: () => undefined });
  await proveServers(site, before, before.servers, old);
}

function previousRelease({ ctx, workspaceId }: Working, id: string): Promise<Release> {
  return readRelease(ctx.db, ctx.sealer, workspaceId, id as ReleaseId);
}

export async function point(work: Working): Promise<undefined> {
  const { ctx, workspaceId, deployment, environment } = work;
  const releaseId = outputOf(work, 'keep').releaseId as ReleaseId;
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await mustHold(tx, work.step);
    await setCurrent(tx, workspaceId, environment.id, { deploymentId: deployment.id, releaseId }, now);
    await setSeen(tx, workspaceId, environment.id, {});
  });
}

export async function pointBack(work: Working): Promise<void> {
  const { ctx, workspaceId, deployment, environment } = work;
  if (environment.currentDeploymentId !== deployment.id) return;
  const { previous } = outputOf(work, 'plan');
  const before = previous && {
    deploymentId: previous.deploymentId as DeploymentId,
    releaseId: previous.releaseId as ReleaseId,
  };
  await ctx.db.transaction(async (tx) => {
    await mustHold(tx, work.step);
    await setCurrent(tx, workspaceId, environment.id, before, ctx.clock.now());
  });
}

/** What is left of the old release, of the build, and of a server that the environment has moved away from. */
export async function tidy(work: Working): Promise<undefined> {
  const { ctx, workspaceId, environment } = work;
  const site = await siteOf(work);
  const { old, tags, previousServerIds } = outputOf(work, 'plan');
  const before = await queries.listLiveReleases(ctx.db, workspaceId, environment.id);
  const live = [outputOf(work, 'keep').releaseId as ReleaseId, ...before.map(({ releaseId }) => releaseId)];
  const keep = await recentImages(ctx.db, workspaceId, live);
  await clearAway(site, { containers: namesOf(old), images: tags.filter((tag) => !keep.has(tag)) });
  for (const serverId of previousServerIds) {
    const there = await siteOf(work, serverId as ServerId);
    await takeDown(ctx, there, { deleteData: false });
    await removeCertificates(ctx.db, there);
    await ctx.db.transaction((tx) => removePlace(tx, workspaceId, environment.id, serverId as ServerId));
  }
}
