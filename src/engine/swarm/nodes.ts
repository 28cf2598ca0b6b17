/** The nodes of a swarm as a manager knows them, and changes to them. Nothing can be changed without a majority of managers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../../adapters/docker/ask.ts';
import type { Call } from '../../adapters/docker/docker.ts';
import {
  countRunningTasks,
  inspectSwarm,
  listNodes,
  listTasksOn,
  type NodeWish,
  readNodes,
  readSwarm,
  removeNode,
  rotateTokens,
  type SwarmNode,
  updateNode,
} from '../../adapters/docker/swarm.ts';
import { Fault } from '../../fault.ts';
import { planManagers } from './managers.ts';
import { type SwarmMember, sending } from './member.ts';

export type { SwarmNode } from '../../adapters/docker/swarm.ts';

/** Undefined where it is no manager, or one that reaches no majority. */
export async function nodesSeenBy(
  { remote, signal }: SwarmMember,
  timeoutMs: number = listNodes.timeoutMs,
): Promise<SwarmNode[] | undefined> {
  try {
    const [reply] = await ask(remote, [{ ...listNodes, timeoutMs }], { signal });
    return reply && readNodes(reply);
  } catch (error) {
    // Docker asks a leader that it does not reach any more for 20 s: this server answers all the same.
    const isDockers = error instanceof Fault && error.evidence?.startsWith(listNodes.path, 'GET '.length);
    if (isDockers && error.code === 'remote_timeout') return undefined;
    throw error;
  }
}

/** As one who reaches a majority sees them. */
export async function nodesOf(manager: SwarmMember): Promise<SwarmNode[]> {
  const nodes = await nodesSeenBy(manager);
  if (!nodes) throw noQuorum();
  return nodes;
}

export function noQuorum(): Fault {
  return new Fault('cluster_no_quorum', 'The managers of the cluster have lost their majority.', {
    hint: 'Bring back enough of them; GET /clusters/:id says which are away.',
  });
}

/** Looks first; somebody else's change between the look and ours is met by another look. */
async function changeNode(
  manager: SwarmMember,
  nodeId: string,
  wish: NodeWish,
  isDone: (node: SwarmNode) => boolean,
): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const node = (await nodesOf(manager)).find(({ id }) => id === nodeId);
    if (!node) throw gone(nodeId);
    if (isDone(node)) return;
    try {
      await ask(manager.remote, [updateNode(node, wish)], sending(manager));
      return;
    } catch (error) {
      const isStale = error instanceof Fault && /out of sequence/.test(error.evidence ?? '');
      if (!isStale || tries >= 5) throw error;
    }
  }
}

function gone(nodeId: string): Fault {
  return new Fault('docker_failed', 'The swarm does not know the server any more.', {
    hint: 'Take the server out of the cluster, and add it again.',
    evidence: `node ${nodeId}`,
  });
}

export function labelNode(manager: SwarmMember, nodeId: string, labels: Readonly<Record<string, string>>) {
  const isDone = (node: SwarmNode) =>
    Object.entries(labels).every(([name, value]) => node.labels[name] === value);
  return changeNode(manager, nodeId, { labels }, isDone);
}

export function setAvailability(manager: SwarmMember, nodeId: string, availability: 'active' | 'drain') {
  return changeNode(manager, nodeId, { availability }, (node) => node.availability === availability);
}

/** What runs there goes on, and nothing new comes; one that is drained already stays so. */
export function pauseNode(manager: SwarmMember, nodeId: string): Promise<void> {
  return changeNode(manager, nodeId, { availability: 'pause' }, (node) => node.availability !== 'active');
}

/** Until it runs nothing any more. */
export async function waitUntilEmpty(
  manager: SwarmMember,
  nodeId: string,
  progress: (left: number) => void,
): Promise<void> {
  await until(manager.signal, async () => {
    const [reply] = await ask(manager.remote, [listTasksOn(nodeId)], { signal: manager.signal });
    const left = reply ? countRunningTasks(reply) : 0;
    if (left > 0) progress(left);
    return left === 0;
  });
}

export interface ManagerRule {
  readonly isLost: (nodeId: string) => boolean;
  /** Nodes that are about to leave. */
  readonly leaving: readonly string[];
  readonly log: (line: string) => void;
}

async function changesOf(manager: SwarmMember, { isLost, leaving }: ManagerRule) {
  const nodes = await nodesOf(manager);
  const staying = nodes.filter(({ id }) => !leaving.includes(id));
  const changes = planManagers(staying.map((node) => ({ ...node, isLost: isLost(node.id) })));
  const going = nodes.filter(({ id, isManager }) => isManager && leaving.includes(id));
  return { promote: changes.promote, demote: [...going.map(({ id }) => id), ...changes.demote] };
}

/** One after the other, each waited for: two changes at once could cost the majority. */
export async function promoteMissing(manager: SwarmMember, rule: ManagerRule): Promise<void> {
  for (const id of (await changesOf(manager, rule)).promote) {
    await changeNode(manager, id, { isManager: true }, ({ isManager }) => isManager);
    await until(manager.signal, async () =>
      (await nodesOf(manager)).some((node) => node.id === id && node.isReachable),
    );
    rule.log(`${id} is a manager`);
  }
}

/** After the missing ones were promoted, and asked of a manager that stays. Those that leave come first. */
export async function demoteSurplus(manager: SwarmMember, rule: ManagerRule): Promise<void> {
  for (const id of (await changesOf(manager, rule)).demote) await demoteNode(manager, id, rule.log);
}

/** A manager that leaves without this is missed at every majority. */
export async function demoteNode(
  manager: SwarmMember,
  nodeId: string,
  log: (line: string) => void,
): Promise<void> {
  await changeNode(manager, nodeId, { isManager: false }, ({ isManager }) => !isManager);
  await until(manager.signal, async () =>
    (await nodesOf(manager)).every(({ id, isCounted }) => id !== nodeId || !isCounted),
  );
  log(`${nodeId} is no manager any more`);
}

/** Off the list. The tokens are new afterwards: who was a manager knows the old. */
export async function forgetNode(manager: SwarmMember, nodeId: string): Promise<void> {
  await ask(manager.remote, [removeNode(nodeId)], sending(manager));
  const [reply] = await ask(manager.remote, [inspectSwarm], { signal: manager.signal });
  const swarm = reply && readSwarm(reply);
  const calls: Call[] = swarm ? [rotateTokens(swarm)] : [];
  await ask(manager.remote, calls, sending(manager));
}

/** A node is on the list as soon as it has joined, and up a moment later. */
export function waitUntilUp(manager: SwarmMember, nodeId: string): Promise<void> {
  return until(manager.signal, async () =>
    (await nodesOf(manager)).some(({ id, isUp }) => id === nodeId && isUp),
  );
}

/** Ended by the signal, which the step's deadline aborts. */
async function until(signal: AbortSignal, isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(500, undefined, { signal });
}
