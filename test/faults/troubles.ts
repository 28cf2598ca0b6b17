/** Makes the trouble of a trial happen, and ends it. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { unitRoot } from '../../src/remote/units/unit-scripts.ts';
import { orderReboot } from '../support/reboot.ts';
import { until } from '../support/until.ts';
import type { TrialDatabase } from './database.ts';
import type { Ground } from './ground.ts';
import type { Trouble } from './trials.ts';

const patienceMs = 400_000;
/** A little longer than the worker's tries on the server take one after the other. */
const fullForMs = 15_000;

/** While the proxy's container itself is down, nobody can be answered: the failures of that time are not counted. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface Scene {
  readonly ground: Ground;
  readonly database: Pick<TrialDatabase, 'stop' | 'start'> | undefined;
  readonly deploymentId: string;
}

/** Before the deployment is asked for. */
export function order({ orders }: Ground, trouble: Trouble): void {
  if (trouble.kind === 'none') return;
  if (trouble.kind === 'kill') for (const each of trouble.points) orders.give(each, 'kill');
  else if (trouble.kind === 'stall') orders.give(trouble.at, 'stall');
  else orders.give(trouble.at, trouble.kind === 'disk' ? 'wait' : 'tell');
}

/** Ends when the trouble is over. */
export async function cause(scene: Scene, trouble: Trouble): Promise<Window | undefined> {
  const { ground } = scene;
  if (trouble.kind === 'none') return undefined;
  if (trouble.kind === 'kill') {
    for (const point of trouble.points) {
      const { pid } = await ground.orders.met(point, patienceMs);
      await until(() => !ground.hosts.some((host) => host.pid === pid), 'the killed process to be gone');
      await ground.revive();
    }
    return undefined;
  }
  const { pid } = await ground.orders.met(trouble.at, patienceMs);
  if ('afterMs' in trouble) await sleep(trouble.afterMs);
  if (trouble.kind === 'stall') return stall(scene, pid, trouble.goesOn);
  if (trouble.kind === 'disk') return fill(scene, trouble);
  if (trouble.kind === 'cut') {
    await ground.lab.cut(ground.server.name);
    await sleep(trouble.forMs);
    await ground.lab.heal(ground.server.name);
  } else if (trouble.kind === 'postgres') {
    await scene.database?.stop();
    await sleep(trouble.forMs);
    await scene.database?.start();
  } else if (trouble.kind === 'dockerd') {
    await ground.sh('systemctl restart docker');
  } else if (trouble.kind === 'proxy') {
    const from = Date.now();
    await ground.sh('docker restart --time 1 slipway-proxy');
    // It has to read its files before it listens.
    return { from, to: Date.now() + 2_000 };
  } else {
    await reboot(ground);
  }
  return undefined;
}

/** Its successor ends the deployment, and perhaps another one comes, before it wakes: then it must do nothing more. */
async function stall({ ground, deploymentId }: Scene, pid: number, goesOn: boolean): Promise<undefined> {
  const host = ground.hosts.find((each) => each.pid === pid);
  if (!host) throw new Error('the process that was to stand still is gone');
  host.isStalled = true;
  try {
    await sleep(ground.leaseMs);
    await ground.ended(deploymentId);
    if (goesOn) {
      const { currentDeploymentId } = await ground.environment();
      const { commit } = await ground.deployment(String(currentDeploymentId));
      const next = await ground.ended(await ground.deploy(String(Object(commit).sha)));
      if (next.status !== 'succeeded') throw new Error(`the next one ended ${JSON.stringify(next.fault)}`);
    }
  } finally {
    await host.wake(60_000);
  }
  return undefined;
}

/** A small disk of its own in place of the folder, and full: the lab's servers share the disk of this machine. */
async function fill(
  { ground, deploymentId }: Scene,
  trouble: Trouble & { kind: 'disk' },
): Promise<undefined> {
  const folder = `${unitRoot}/${trouble.folder}`;
  await ground.sh(`mkdir -p ${folder}; mount -t tmpfs -o size=64k,mode=700 none ${folder}
dd if=/dev/zero of=${folder}/.full bs=4k count=20 2> /dev/null || true`);
  ground.orders.letGo(trouble.at);
  try {
    await Promise.race([ground.ended(deploymentId), sleep(fullForMs)]);
  } finally {
    await ground.sh(`umount --lazy ${folder}`);
  }
  return undefined;
}

export async function reboot(ground: Ground, { name, address } = ground.server): Promise<void> {
  await orderReboot(ground.lab, name);
  // From here on the console is left alone: a command in a server that goes down would keep half of it alive.
  const isUp = () => greets(address);
  await until(async () => !(await isUp()), 'the server to go down', patienceMs);
  await until(isUp, 'the server to come up', patienceMs);
}

/** Whether an SSH server answers there. */
function greets(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: 22, timeout: 2_000 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', () => finish(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => finish(false));
  });
}
