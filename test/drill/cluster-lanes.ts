/** An environment on a cluster of three servers: deployments to it, and members that are drained, leave and join meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerDescription } from '../../lab/description.ts';
import { clusterWrongs } from '../faults/cluster-aftermath.ts';
import type { Ground } from '../faults/ground.ts';
import { Crowd, type Missed } from '../support/crowd.ts';
import { until } from '../support/until.ts';
import { deployOnce, ended } from './app-lane.ts';
import type { Lane } from './lane.ts';
import type { Scene } from './scene.ts';
import type { AppTask, MemberTask } from './tasks.ts';

export interface ClusterPlace {
  readonly clusterId: string;
  readonly servers: readonly ServerDescription[];
  readonly serverIds: readonly string[];
  readonly environmentId: string;
}

const size = 3;
/** Two on each server are enough to lose some and keep some; this machine has two cores. */
const replicas = 6;

/** While this lasts, who comes to that proxy, or to any, may fail. */
export interface MemberWindow {
  readonly from: number;
  readonly to: number;
  readonly place?: number;
  /** Where all who failed there did so within this time of each other. */
  readonly withinMs?: number;
}

/** The servers are added to `taken` as soon as they are there, so that they go whatever happens. */
export async function makeCluster(ground: Ground, taken: ServerDescription[]): Promise<ClusterPlace> {
  const servers: ServerDescription[] = [];
  const serverIds: string[] = [];
  while (servers.length < size) {
    const server = await ground.lab.addServer('provisioned');
    taken.push(server);
    servers.push(server);
    serverIds.push(await ground.addServer(server));
  }
  const clusterId = await ground.makeCluster(serverIds);
  const { environmentId } = await ground.create('many', [], { placement: { clusterId, replicas } });
  return { clusterId, servers, serverIds, environmentId };
}

export async function crowdOf(ground: Ground, { environmentId, servers }: ClusterPlace): Promise<Crowd> {
  const { port } = new URL(String((await ground.environment(environmentId)).url));
  const urls = servers.map(({ address }) => `http://${address}:${port}/`);
  return new Crowd(urls, { each: 2, goesElsewhere: true, restMs: 40 });
}

/** Brief windows last: they judge only what the others have not excused. */
export function lostOf({ failures }: Pick<Crowd, 'failures'>, windows: readonly MemberWindow[]): Missed[] {
  let left = [...failures];
  for (const window of windows.toSorted((one, other) => (lengthOf(one) < lengthOf(other) ? 1 : -1))) {
    const met = left.filter((each) => isIn(each, window));
    const times = met.map(({ at }) => at);
    if (Math.max(...times) - Math.min(...times) <= lengthOf(window))
      left = left.filter((each) => !met.includes(each));
  }
  return left;
}

function lengthOf({ withinMs = Number.POSITIVE_INFINITY }: MemberWindow): number {
  return withinMs;
}

function isIn({ begunAt, at, place }: Missed, window: MemberWindow): boolean {
  return at >= window.from && begunAt <= window.to && (window.place === undefined || window.place === place);
}

export async function runCluster(lane: Lane, task: AppTask): Promise<void> {
  const { cluster } = lane.scene;
  if (cluster)
    await ended(
      lane,
      cluster.environmentId,
      task,
      await deployOnce(lane, cluster.environmentId, 'many', task),
    );
}

export async function runMember(lane: Lane, { kind, place }: MemberTask): Promise<void> {
  const { cluster } = lane.scene;
  const serverId = cluster?.serverIds[place];
  if (!cluster || serverId === undefined) return;
  const all = `/clusters/${cluster.clusterId}/servers`;
  if (kind === 'drain') {
    await asked(lane, 'POST', `${all}/${serverId}/drain`);
    await asked(lane, 'POST', `${all}/${serverId}/activate`);
  } else {
    const isGone = await asked(lane, 'DELETE', `${all}/${serverId}`);
    if (isGone) await asked(lane, 'POST', all, { serverIds: [serverId] });
  }
}

/**
 * The look at the cluster may be about to change its managers, the environment that is built on a server is being deployed, or the
 * server was cut off a moment ago and is not known to be back.
 */
async function asked(lane: Lane, method: string, path: string, body?: unknown): Promise<boolean> {
  const answer = await until(
    async () => {
      try {
        return await lane.ground.call(method, path, body);
      } catch (error) {
        const message = error instanceof Error ? error.message : '';
        // It did not join again: how that ended is judged, and says why.
        if (/"not_found"/.test(message)) return 'no member';
        if (!/"(cluster_busy|in_use|server_not_ready)"/.test(message)) throw error;
        return sleep(500, undefined);
      }
    },
    'the cluster to be free and the server to be there',
    400_000,
  );
  return answer !== 'no member' && (await lane.ended(answer.id)).status === 'succeeded';
}

export async function clustersWrongs({ ground, cluster }: Scene): Promise<string[]> {
  if (!cluster) return [];
  const { status, problem, members } = await ground.call('GET', `/clusters/${cluster.clusterId}`);
  const isWhole = Array.isArray(members) && members.length === size;
  return [
    ...(status === 'ready' && isWhole
      ? []
      : [`the cluster is ${status}: ${JSON.stringify(problem ?? members)}`]),
    ...(await clusterWrongs(ground, cluster.servers, [cluster.environmentId])),
  ];
}
