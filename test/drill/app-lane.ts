/** Deployments of every course to the environment whose visitors must notice nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Version } from '../faults/sample.ts';
import type { Lane } from './lane.ts';
import { well } from './lane.ts';
import type { AppTask } from './tasks.ts';

export async function runApp(lane: Lane, task: AppTask): Promise<void> {
  const { ground } = lane;
  const { environmentId } = ground;
  const id = await ask(lane, task);
  if (task.kind === 'broken build')
    return void (await lane.deployed(environmentId, id, { state: 'failed', code: /^build_failed$/ }));
  if (task.kind === 'crashing')
    return void (await lane.deployed(environmentId, id, { state: 'failed', code: /^app_/ }));
  if (task.kind === 'cancel') {
    await sleep(task.afterMs);
    const isInTime = await ground.cancel(id);
    return void (await lane.deployed(environmentId, id, isInTime ? { state: 'cancelled' } : well));
  }
  await lane.deployed(environmentId, id);
}

async function ask(lane: Lane, task: AppTask): Promise<string> {
  const { ground } = lane;
  const { currentDeploymentId } = await ground.environment();
  const { commit } = await ground.deployment(String(currentDeploymentId));
  const sha = String(Object(commit).sha);
  if (task.kind === 'redeploy') return ground.deploy(sha);
  if (task.kind === 'rollback') {
    const earlier = (await ground.deployments()).find(
      (each) => each.status === 'succeeded' && Object(each.commit).sha !== sha,
    );
    return earlier ? ground.rollBackTo(String(earlier.id)) : ground.deploy(sha);
  }
  return ground.deploy(await ground.push(versionFor(task.kind, lane.fresh())));
}

function versionFor(kind: AppTask['kind'], name: string): Version {
  if (kind === 'broken build') return { name, build: `echo ${name}; sleep 1; exit 3` };
  if (kind === 'crashing') return { name, crashes: true };
  return { name, build: `echo ${name}; sleep 2`, ballast: 200_000 };
}
