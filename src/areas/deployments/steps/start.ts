/** The new release beside the old one: services, release command, containers, health, workers. Undone, nothing of it is left. */
import { ask } from '../../../adapters/docker/ask.ts';
import {
  createContainer,
  inspectContainer,
  readContainer,
  removeContainer,
} from '../../../adapters/docker/containers.ts';
import { Fault } from '../../../fault.ts';
import type { ReleaseId } from '../../../ids.ts';
import type { Json } from '../../../operations/definition.ts';
import { followUnit } from '../../../remote/units/follow-unit.ts';
import { routesOf } from '../../domains/proxy-names.ts';
import { appContainer, type Site } from '../../environments/place.ts';
import { drain, holdRequests, proxyFront, serversOf, takeOver } from '../../releases/go-live.ts';
import { deploymentOf, listApp } from '../../releases/look-at-site.ts';
import { mustSwap, type Release, readRelease, secretsOf } from '../../releases/releases.ts';
import { removeContainers, startAgain, stopContainers } from '../../releases/retire.ts';
import {
  groundCalls,
  releaseContainer,
  startProcesses,
  startWeb,
  webProcess,
} from '../../releases/start-release.ts';
import { waitHealthy } from '../../releases/wait-healthy.ts';
import { ensureServices } from '../../services/ensure-services.ts';
import { hasServices } from '../../services/read-services.ts';
import { KeptProbes } from '../kept-probes.ts';
import * as queries from '../queries.ts';
import { outputOf, readOutput, siteOf, type Working } from './working.ts';

export async function releaseOf(work: Working): Promise<Release> {
  const { ctx, workspaceId } = work;
  return readRelease(ctx.db, ctx.sealer, workspaceId, outputOf(work, 'keep').releaseId as ReleaseId);
}

export async function services(work: Working): Promise<undefined> {
  const { ctx, workspaceId, environment } = work;
  if (!(await hasServices(ctx.db, workspaceId, environment.id))) return;
  const site = await siteOf(work);
  await ensureServices(work.ctx, site, { log: (line) => work.step.log(line) });
}

function releaseUnit({ deployment }: Working): string {
  return `slipway-${deployment.id}-release`;
}

/** In a container of its own that is kept until it has ended: who comes back finds how it did. */
export async function runReleaseCommand(work: Working): Promise<undefined> {
  const { deployment, step } = work;
  const release = await releaseOf(work);
  const { releaseCommand } = release.run;
  // It has run for this release when it was new; what came after it is not undone by running it again.
  if (releaseCommand === null || deployment.trigger === 'rollback') return;
  const site = await siteOf(work);
  const name = appContainer(deployment.id, 'release', 1);
  const wish = {
    release,
    deploymentId: deployment.id,
    takenAddresses: new Set(outputOf(work, 'plan').taken),
  };
  const calls = [
    ...groundCalls(site.place, release),
    createContainer(releaseContainer(site.place, wish, releaseCommand)),
    inspectContainer(name),
  ];
  const { remote, fence, signal } = site;
  const secrets = secretsOf(release);
  const replies = await ask(remote, calls, { fence, signal, secrets });
  const last = replies.at(-1);
  const state = last && readContainer(last);
  if (state?.status === 'exited' && state.startedAt !== null && state.exitCode === 0) return;
  step.log(`Release command: ${releaseCommand}`);
  const unit = { name: releaseUnit(work), argv: ['docker', 'start', '--attach', name], fence };
  try {
    await followUnit(remote, unit, { signal, secrets, line: (text) => step.log(text) });
  } catch (error) {
    // One that was cut off is not begun again by us: half of it may have been done.
    if (!(error instanceof Fault) || !['remote_failed', 'work_lost'].includes(error.code)) throw error;
    throw new Fault(
      'release_command_failed',
      'The release command failed, so the new release was not started.',
      {
        hint: 'The old release goes on serving. What the command printed is in the evidence.',
        ...(error.evidence !== undefined && { evidence: error.evidence }),
        cause: error,
      },
    );
  }
  await ask(remote, [removeContainer(name)], { fence, signal });
}

export async function undoReleaseCommand(work: Working): Promise<void> {
  const { remote, fence, signal } = await siteOf(work);
  await remote.stopUnit(releaseUnit(work), fence);
  const name = appContainer(work.deployment.id, 'release', 1);
  await ask(remote, [removeContainer(name)], { fence, signal });
}

export async function start(work: Working): Promise<Json> {
  const { deployment, step } = work;
  const release = await releaseOf(work);
  const site = await siteOf(work);
  const { taken } = outputOf(work, 'plan');
  if (mustSwap(release.run)) await stepAside(work, site);
  const web = await startWeb(site, { release, deploymentId: deployment.id, takenAddresses: new Set(taken) });
  step.log(`Started ${web.length === 1 ? 'the container' : `${web.length} containers`} of the new release.`);
  return { web: web.map((each) => ({ ...each })) };
}

/** Two at a time would write to the same volume: requests wait from here until the new release has taken over. */
async function stepAside(work: Working, site: Site): Promise<void> {
  const { old, oldPort } = outputOf(work, 'plan');
  const running = old.filter(({ isRunning }) => isRunning);
  if (running.length === 0 || oldPort === null) return;
  const { run } = await releaseOf(work);
  const web = running.filter(({ process }) => process === webProcess);
  const routes = await routesOf(work.ctx.db, work.workspaceId, work.environment.id);
  const proxied = proxyFront(site, run, routes, serversOf(web, oldPort));
  await holdRequests(site, proxied);
  await drain(
    site,
    proxied,
    web.map(({ name }) => name),
    run,
  );
  await stopContainers(
    site,
    running.map(({ name }) => name),
    run.stopSeconds,
  );
}

/** Whatever of this deployment runs there, by its label; and where the old one had to step aside, it comes back. */
export async function unstart(work: Working): Promise<void> {
  const site = await siteOf(work);
  const mine = (await listApp(site)).filter((each) => deploymentOf(each) === work.deployment.id);
  await removeContainers(
    site,
    mine.map(({ name }) => name),
    5,
  );
  const planned = readOutput(work.step.outputs.get('plan'), 'plan');
  const kept = readOutput(work.step.outputs.get('keep'), 'keep');
  if (!planned || !kept || planned.oldPort === null) return;
  const release = await releaseOf(work);
  const running = planned.old.filter(({ isRunning }) => isRunning);
  if (!mustSwap(release.run) || running.length === 0) return;
  await startAgain(
    site,
    running.map(({ name }) => name),
    release.run.stopSeconds,
  );
  const web = running.filter(({ process }) => process === webProcess);
  const old = await oldRelease(work, release);
  const secrets = secretsOf(old);
  await waitHealthy(site, { containers: web, run: old.run, secrets, tell: () => undefined });
  const routes = await routesOf(work.ctx.db, work.workspaceId, work.environment.id);
  await takeOver(site, proxyFront(site, release.run, routes, serversOf(web, planned.oldPort)));
}

/** The old release is asked as it was asked when it came. */
async function oldRelease({ ctx, workspaceId, step }: Working, otherwise: Release): Promise<Release> {
  const previous = readOutput(step.outputs.get('plan'), 'plan')?.previous;
  if (!previous) return otherwise;
  return readRelease(ctx.db, ctx.sealer, workspaceId, previous.releaseId as ReleaseId);
}

export async function health(work: Working): Promise<undefined> {
  const { ctx, workspaceId, deployment, step } = work;
  const release = await releaseOf(work);
  const { web } = outputOf(work, 'start');
  const kept = new KeptProbes();
  let last = '';
  try {
    await waitHealthy(await siteOf(work), {
      containers: web,
      run: release.run,
      secrets: secretsOf(release),
      tell: (container, probe) => {
        kept.add(container, probe);
        const said =
          probe.outcome === 'ok' ? 'healthy' : `${probe.outcome}${probe.status ? ` ${probe.status}` : ''}`;
        if (said !== last) step.log(`Health of ${container}: ${said} after ${probe.atMs} ms`);
        last = said;
      },
    });
  } finally {
    await queries.setProbes(ctx.db, workspaceId, deployment.id, kept.all);
  }
}

/** Workers beside the old ones, and the timers of cron processes, once the web process is well. */
export async function processes(work: Working): Promise<Json> {
  const { deployment } = work;
  const release = await releaseOf(work);
  if (release.run.processes.length === 0) return { names: [] };
  const site = await siteOf(work);
  const { web } = outputOf(work, 'start');
  const taken = new Set([...outputOf(work, 'plan').taken, ...web.map(({ address }) => address)]);
  const started = await startProcesses(site, { release, deploymentId: deployment.id, takenAddresses: taken });
  return { names: started.map(({ name }) => name) };
}
