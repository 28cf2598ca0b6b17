/** The new release beside the old one: services, release command, containers, health, workers. Undone, nothing of it is left. */
import { endpointsOf, type Target } from '../../../engine/engine.ts';
import { requiresRecreate, secretsOf, webProcess } from '../../../engine/release-spec.ts';
import { Fault } from '../../../fault.ts';
import type { ReleaseId } from '../../../ids.ts';
import type { Json } from '../../../operations/definition.ts';
import { frontOf } from '../../domains/proxy-names.ts';
import type { Release } from '../../releases/releases.ts';
import { readRelease } from '../../releases/stored-releases.ts';
import { ensureServices } from '../../services/ensure-services.ts';
import { hasServices } from '../../services/read-services.ts';
import { KeptProbes } from '../kept-probes.ts';
import * as queries from '../queries.ts';
import { type DeployStepContext, outputOf, readOutput, targetOf } from './step-context.ts';

export async function releaseOf(work: DeployStepContext): Promise<Release> {
  const { ctx, workspaceId } = work;
  return readRelease(
    ctx.db,
    ctx.sealer,
    workspaceId,
    outputOf(work, 'create-release').releaseId as ReleaseId,
  );
}

export async function services(work: DeployStepContext): Promise<undefined> {
  const { ctx, workspaceId, environment } = work;
  if (!(await hasServices(ctx.db, workspaceId, environment.id))) return;
  const target = await targetOf(work);
  await ensureServices(work.ctx, target, { log: (line) => work.step.log(line) });
}

export async function runReleaseCommand(work: DeployStepContext): Promise<undefined> {
  const { deployment, step } = work;
  const release = await releaseOf(work);
  const { releaseCommand } = release.run;
  // It has run for this release when it was new; what came after it is not undone by running it again.
  if (releaseCommand === null || deployment.trigger === 'rollback') return;
  const target = await targetOf(work);
  const takenAddresses = new Set(outputOf(work, 'plan').taken);
  const start = { release, deploymentId: deployment.id, takenAddresses };
  const output = { signal: step.signal, secrets: secretsOf(release), line: (text: string) => step.log(text) };
  try {
    await target.runReleaseCommand(start, releaseCommand, output);
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
}

export async function undoReleaseCommand(work: DeployStepContext): Promise<void> {
  const target = await targetOf(work);
  await target.stopReleaseCommand(work.deployment.id);
}

export async function start(work: DeployStepContext): Promise<Json> {
  const { deployment, step } = work;
  const [release, target] = await Promise.all([releaseOf(work), targetOf(work)]);
  const { taken } = outputOf(work, 'plan');
  if (requiresRecreate(release.run)) await stopOld(work, target);
  const web = await target.startWeb({
    release,
    deploymentId: deployment.id,
    takenAddresses: new Set(taken),
  });
  step.log(`Started ${web.length === 1 ? 'the container' : `${web.length} containers`} of the new release.`);
  return { web: web.map((each) => ({ ...each })) };
}

/** Two at a time would write to the same volume: requests wait from here until the new release has taken over. */
async function stopOld(work: DeployStepContext, target: Target): Promise<void> {
  const { old, oldPort } = outputOf(work, 'plan');
  const running = old.filter(({ isRunning }) => isRunning);
  if (running.length === 0 || oldPort === null) return;
  const { run } = await releaseOf(work);
  const web = running.filter(({ process }) => process === webProcess);
  await target.holdRequests(await frontOf(work.ctx.db, target.placement, run, endpointsOf(web, oldPort)));
  await target.drain(
    web.map(({ name }) => name),
    run.drainSeconds,
  );
  await target.stopInstances(
    running.map(({ name }) => name),
    run.stopSeconds,
  );
}

/** Whatever of this deployment runs there, by its label; and where the old one had to step aside, it comes back. */
export async function unstart(work: DeployStepContext): Promise<void> {
  const target = await targetOf(work);
  const mine = (await target.instances()).filter((each) => each.deploymentId === work.deployment.id);
  await target.removeInstances(
    mine.map(({ name }) => name),
    5,
  );
  const planned = readOutput(work.step.outputs.get('plan'), 'plan');
  const kept = readOutput(work.step.outputs.get('create-release'), 'create-release');
  if (!planned || !kept || planned.oldPort === null) return;
  const release = await releaseOf(work);
  const running = planned.old.filter(({ isRunning }) => isRunning);
  if (!requiresRecreate(release.run) || running.length === 0) return;
  await target.startAgain(
    running.map(({ name }) => name),
    release.run.stopSeconds,
  );
  const web = running.filter(({ process }) => process === webProcess);
  const old = await oldRelease(work, release);
  const secrets = secretsOf(old);
  await target.waitHealthy({ instances: web, run: old.run, secrets, onProbe: () => undefined });
  const endpoints = endpointsOf(web, planned.oldPort);
  await target.switchTo(await frontOf(work.ctx.db, target.placement, release.run, endpoints));
}

/** The old release is asked as it was asked when it came. */
async function oldRelease(
  { ctx, workspaceId, step }: DeployStepContext,
  otherwise: Release,
): Promise<Release> {
  const previous = readOutput(step.outputs.get('plan'), 'plan')?.previous;
  if (!previous) return otherwise;
  return readRelease(ctx.db, ctx.sealer, workspaceId, previous.releaseId as ReleaseId);
}

export async function health(work: DeployStepContext): Promise<undefined> {
  const { ctx, workspaceId, deployment, step } = work;
  const [release, target] = await Promise.all([releaseOf(work), targetOf(work)]);
  const { web } = outputOf(work, 'start');
  const kept = new KeptProbes();
  let last = '';
  try {
    await target.waitHealthy({
      instances: web,
      run: release.run,
      secrets: secretsOf(release),
      variables: release.variables,
      onProbe: (instance, probe) => {
        kept.add(instance, probe);
        const said =
          probe.outcome === 'ok' ? 'healthy' : `${probe.outcome}${probe.status ? ` ${probe.status}` : ''}`;
        if (said !== last) step.log(`Health of ${instance}: ${said} after ${probe.atMs} ms`);
        last = said;
      },
      onWarning: (sentence) => step.log(sentence),
    });
  } finally {
    await queries.setProbes(ctx.db, workspaceId, deployment.id, kept.all);
  }
}

/** Workers beside the old ones, and the timers of cron processes, once the web process is well. */
export async function processes(work: DeployStepContext): Promise<Json> {
  const { deployment } = work;
  const release = await releaseOf(work);
  if (release.run.processes.length === 0) return { names: [] };
  const target = await targetOf(work);
  const { web } = outputOf(work, 'start');
  const taken = new Set([...outputOf(work, 'plan').taken, ...web.map(({ address }) => address)]);
  const started = await target.startProcesses({
    release,
    deploymentId: deployment.id,
    takenAddresses: taken,
  });
  return { names: started.map(({ name }) => name) };
}
