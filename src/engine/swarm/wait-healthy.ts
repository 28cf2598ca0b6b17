/** Waits until Swarm has placed every replica and each answers; what is wrong is found out on the server that it runs on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SwarmTask } from '../../adapters/docker/swarm-services.ts';
import { second } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { HealthCheck, RunningInstance } from '../engine.ts';
import { waitHealthy as waitOn } from '../single-server/wait-healthy.ts';
import type { Cluster, ClusterServer } from './cluster.ts';
import { imageForMembers, imageIdIn } from './images.ts';
import { type Replica, replicasOf, serverOf } from './replicas.ts';

/** Until a container runs: Swarm chooses a server, which makes it. */
const placedMs = 180 * second;
/** As many as on a single server: then nobody hopes any more. */
export const mostFailures = 3;

/** One after the other: while one is waited for, so do the others start. */
export async function waitHealthy(cluster: Cluster, check: HealthCheck): Promise<void> {
  // What failed before has been put right since: the image was brought to where it was missing.
  const before = new Set((await replicasOf(cluster)).flatMap(({ failed }) => failed).map(({ id }) => id));
  for (const instance of check.instances) await waitForOne(cluster, check, instance, before);
}

async function waitForOne(
  cluster: Cluster,
  check: HealthCheck,
  { name, process }: RunningInstance,
  before: Set<string>,
) {
  const deadline = performance.now() + check.run.health.startSeconds * second;
  for (;;) {
    const { service, containerId, server, failures } = await placed(cluster, name, before);
    const port = service.publishedPort;
    const there = { name, process, address: server.address, container: containerId };
    try {
      const instances = [{ ...there, ...(port !== null && { port }) }];
      return await waitOn(server.host, { ...check, instances });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // Swarm may have another one under way: after a first failure, or because the server has gone.
      const isOver = performance.now() > deadline || failures >= mostFailures;
      if (isOver || !(await isReplaced(cluster, name, containerId))) throw error;
    }
  }
}

async function find(cluster: Cluster, name: string): Promise<Replica> {
  const found = (await replicasOf(cluster)).find(({ service }) => service.name === name);
  if (found) return found;
  throw new Fault('docker_failed', 'A replica was removed from the swarm while it was waited for.', {
    evidence: name,
  });
}

interface Placed {
  readonly service: Replica['service'];
  readonly containerId: string;
  readonly server: ClusterServer;
  readonly failures: number;
}

async function placed(cluster: Cluster, name: string, before: Set<string>): Promise<Placed> {
  const until = performance.now() + placedMs;
  for (;;) {
    const { service, task, failed } = await find(cluster, name);
    // A server has come back, or has joined, since the image was brought to all that were up.
    const lacking = failed.filter((each) => !before.has(each.id) && lacksImage(each));
    if (lacking.length > 0) await imageForMembers(cluster, imageIdIn(service.image));
    for (const { id } of lacking) before.add(id);
    const fresh = failed.filter(({ id }) => !before.has(id));
    const [lastFailed = null] = fresh;
    const failures = fresh.length;
    // One that ends as soon as it is started is never seen running: what it left says why. One that runs may have failed often
    // before, with its servers; it only has to be found.
    const isHopeless = task?.state !== 'running' && failures >= mostFailures;
    const told = isHopeless ? lastFailed : task;
    const server = serverOf(cluster, told);
    const hasContainer =
      told !== null && told.containerId !== '' && (told === lastFailed || told.state === 'running');
    if (hasContainer && server) return { service, containerId: told.containerId, server, failures };
    if (performance.now() > until || isHopeless)
      throw new Fault('docker_failed', 'Swarm could not start a replica of the new release.', {
        hint: 'The evidence is what Swarm says of it. GET /clusters/:id shows which servers are up.',
        evidence: `${name}: ${told ? `${told.state} ${told.error}` : 'no task was made'}`,
      });
    await sleep(300, undefined, { signal: cluster.signal });
  }
}

function lacksImage({ state, error }: SwarmTask): boolean {
  return state === 'rejected' && /No such image/.test(error);
}

/** Swarm needs a moment to see what the server has seen. */
async function isReplaced(cluster: Cluster, name: string, containerId: string): Promise<boolean> {
  for (let looks = 0; looks < 6; looks += 1) {
    const { task } = await find(cluster, name);
    if (task?.containerId !== containerId || task.state !== 'running') return true;
    await sleep(500, undefined, { signal: cluster.signal });
  }
  return false;
}
