/** Deployments of every course to the environment whose visitors must notice nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Version } from '../faults/sample.ts';
import type { Lane } from './lane.ts';
import { well } from './lane.ts';
import type { AppTask } from './tasks.ts';

export async function runApp(lane: Lane, task: AppTask): Promise<void> {
  const { environmentId } = lane.ground;
  await ended(lane, environmentId, task, await deployOnce(lane, environmentId, 'one', task));
}

export async function ended(lane: Lane, environmentId: string, task: AppTask, id: string): Promise<void> {
  const { ground } = lane;
  if (task.kind === 'broken build')
    return void (await lane.deployed(environmentId, id, { state: 'failed', code: /^build_failed$/ }));
  if (task.kind === 'crashing')
    return void (await lane.deployed(environmentId, id, { state: 'failed', code: /^app_/ }));
  if (task.kind === 'cancel') {
    await sleep(task.afterMs);
    const isInTime = await ground.cancel(id, environmentId);
    return void (await lane.deployed(environmentId, id, isInTime ? { state: 'cancelled' } : well));
  }
  await lane.deployed(environmentId, id);
}

/** The id of the deployment that is asked for. */
export async function deployOnce(
  lane: Lane,
  environmentId: string,
  repository: string,
  task: AppTask,
): Promise<string> {
  const { ground } = lane;
  const { currentDeploymentId } = await ground.environment(environmentId);
  const { commit } = await ground.deployment(String(currentDeploymentId), environmentId);
  const sha = String(Object(commit).sha);
  if (task.kind === 'redeploy') return ground.deploy(sha, environmentId);
  if (task.kind === 'rollback') {
    const earlier = (await ground.deployments(environmentId)).find(
      (each) => each.status === 'succeeded' && Object(each.commit).sha !== sha,
    );
    return earlier ? ground.rollBackTo(String(earlier.id), environmentId) : ground.deploy(sha, environmentId);
  }
  return ground.deploy(await ground.push(versionFor(task.kind, lane.fresh()), repository), environmentId);
}

function versionFor(kind: AppTask['kind'], name: string): Version {
  if (kind === 'broken build') return { name, build: `echo ${name}; sleep 1; exit 3` };
  if (kind === 'crashing') return { name, crashes: true };
  return { name, build: `echo ${name}; sleep 2`, ballast: 200_000 };
}
