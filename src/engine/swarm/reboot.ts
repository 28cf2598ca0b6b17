/** A member is rebooted, once, and waited for: it, its Docker, and the managers' word that it is back. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../../adapters/docker/ask.ts';
import type { Call } from '../../adapters/docker/docker.ts';
import { fieldsOf, listOf, numberOf, textOf } from '../../adapters/docker/json.ts';
import { info, readSwarmView } from '../../adapters/docker/swarm.ts';
import { isKeptAnywhere } from '../../adapters/docker/swarm-services.ts';
import type { SwarmMember } from './member.ts';

const lookTimeoutMs = 15_000;

/** Another one after each boot. */
export async function bootIdOf({ remote, signal }: SwarmMember): Promise<string> {
  const argv = ['cat', '/proc/sys/kernel/random/boot_id'];
  const printed = await remote.output(argv, { signal, timeoutMs: lookTimeoutMs });
  return printed.toString().trim();
}

/** Does nothing where it has rebooted since: whoever resumes may order it a second time. */
export async function orderReboot({ remote, signal }: SwarmMember, bootId: string): Promise<void> {
  await remote.script(rebootScript, [bootId], { signal, timeoutMs: lookTimeoutMs });
}

const rebootScript = `
if [ "$(cat /proc/sys/kernel/random/boot_id)" = "$1" ]; then systemctl reboot; fi
`;

/** As its own Docker has it. The managers may not have noticed yet that it was away. */
export async function isInSwarm({ remote, signal }: SwarmMember): Promise<boolean> {
  const [reply] = await ask(remote, [{ ...info, timeoutMs: lookTimeoutMs }], { signal });
  return reply !== undefined && readSwarmView(reply).state === 'active';
}

const listServices: Call = { method: 'GET', path: '/services?status=true', ok: [200] };

/** Names of services with fewer tasks running than wanted, though they could run. */
export async function incompleteServices({ remote, signal }: SwarmMember): Promise<string[]> {
  const [reply] = await ask(remote, [listServices], { signal });
  return listOf(reply?.body).flatMap((each) => {
    const { RunningTasks, DesiredTasks } = fieldsOf(each, 'ServiceStatus');
    // What may run on one server only waits for it, and a cron process has ended most of the time.
    const isComplete =
      numberOf(RunningTasks) >= numberOf(DesiredTasks) || !isKeptAnywhere(fieldsOf(each, 'Spec'));
    return isComplete ? [] : [textOf(fieldsOf(each, 'Spec').Name)];
  });
}

/** Until the other servers run what an emptied one has left. What was broken before is not waited for. */
export async function waitUntilComplete(
  manager: SwarmMember,
  broken: readonly string[],
  progress: (missing: readonly string[]) => void,
): Promise<void> {
  for (;;) {
    const missing = (await incompleteServices(manager)).filter((name) => !broken.includes(name));
    if (missing.length === 0) return;
    progress(missing);
    await sleep(500, undefined, { signal: manager.signal });
  }
}
