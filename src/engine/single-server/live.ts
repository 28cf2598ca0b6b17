/** What people watch of an environment on one server: its containers as they are now, and their output as it comes. */
import { ask } from '../../adapters/docker/ask.ts';
import {
  containerLogs,
  inspectContainer,
  listContainers,
  readContainer,
  readContainers,
  readMemory,
  statsOf,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import { LogFrames } from '../../adapters/log-tap/log-frames.ts';
import { LogTaps } from '../../adapters/log-tap/log-taps.ts';
import type { Remote } from '../../remote/remote.ts';
import type { LiveView, SeenContainer, ShownContainer } from '../live-view.ts';
import { labelsOf, type Placement } from '../placement.ts';

type Where = Pick<Placement, 'workspaceId' | 'environmentId' | 'serverId'>;

export class SingleServerViews {
  /** One for each server that is watched, whoever watches it. */
  readonly #taps = new LogTaps();

  open(placement: Where, remote: Remote, signal: AbortSignal): LiveView {
    return {
      containers: () => lookAtContainers(placement, remote, signal),
      lastOutput: async (ids, most, secrets) => {
        const calls = ids.map((id) => containerLogs(id, most));
        const replies = await ask(remote, calls, { signal, secrets });
        return replies.map(({ status, bytes }) => new LogFrames(status).push(bytes));
      },
      follow: async (follower) => {
        const tap = await this.#taps.of(placement.serverId, remote);
        return signal.aborted ? () => undefined : tap.follow(follower);
      },
    };
  }
}

/** Two round trips: which there are, and how each is. One that goes in between is left out. */
async function lookAtContainers(
  placement: Where,
  remote: Remote,
  signal: AbortSignal,
): Promise<SeenContainer[]> {
  const [list] = await ask(remote, [listContainers(labelsOf(placement, 'app'))], { signal });
  const ids = list ? readContainers(list).map(({ id }) => id) : [];
  const replies = await ask(remote, [...ids.map(inspectContainer), ...ids.map(statsOf)], { signal });
  const seen = ids.flatMap((id, index) => {
    const [inspected, stats] = [replies[index], replies[ids.length + index]];
    const state = inspected && readContainer(inspected);
    return state ? [{ id, shown: shown(placement, state, stats && readMemory(stats)) }] : [];
  });
  return seen.sort(inOrder);
}

export function inOrder({ shown: one }: SeenContainer, { shown: other }: SeenContainer): number {
  return order(one) - order(other) || compare(one, other);
}

function shown(
  { serverId }: Where,
  { name, labels, status, restarts, exitCode, isOutOfMemory, startedAt }: ContainerState,
  memory: ReturnType<typeof readMemory>,
): ShownContainer {
  const hasEnded =
    ['exited', 'dead', 'restarting'].includes(status) || (status === 'created' && exitCode !== 0);
  return {
    name,
    restarts,
    isOutOfMemory,
    state: status,
    process: labels['slipway.process'] ?? '',
    replica: Number(labels['slipway.replica'] ?? 0),
    deploymentId: labels['slipway.deployment'] ?? null,
    serverId,
    exitCode: hasEnded ? exitCode : null,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    memoryBytes: memory?.usedBytes ?? null,
    memoryLimitBytes: memory?.limitBytes ?? null,
  };
}

/** The web process is what people look for first. */
function order({ process }: ShownContainer): number {
  return process === 'web' ? 0 : 1;
}

function compare(one: ShownContainer, other: ShownContainer): number {
  return (
    one.process.localeCompare(other.process) ||
    one.replica - other.replica ||
    one.name.localeCompare(other.name)
  );
}
