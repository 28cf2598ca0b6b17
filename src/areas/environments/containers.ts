/** The containers of an app as they are on its server at this moment. */
import { ask } from '../../adapters/docker/ask.ts';
import {
  inspectContainer,
  listContainers,
  readContainer,
  readContainers,
  readMemory,
  statsOf,
} from '../../adapters/docker/containers.ts';
import type { ContainerState } from '../../adapters/docker/docker.ts';
import type { Clock } from '../../clock.ts';
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Remote } from '../../remote/remote.ts';
import type { Database } from '../../store/database.ts';
import { connectTo, type ServerAccess } from '../servers/servers.ts';
import { environmentNotFound } from './environments.ts';
import * as queries from './queries.ts';

export interface ShownContainer {
  readonly name: string;
  readonly process: string;
  readonly replica: number;
  readonly deploymentId: string | null;
  readonly state: ContainerState['status'];
  readonly restarts: number;
  /** How it ended last; null where it runs. */
  readonly exitCode: number | null;
  readonly isOutOfMemory: boolean;
  readonly startedAt: string | null;
  /** Null where it does not run. */
  readonly memoryBytes: number | null;
  /** The server's own, where it has no limit. */
  readonly memoryLimitBytes: number | null;
}

export interface SeenContainer {
  readonly id: string;
  readonly shown: ShownContainer;
}

export async function containersOf(
  ctx: { readonly db: Database; readonly clock: Clock; readonly servers: ServerAccess },
  workspaceId: WorkspaceId,
  id: EnvironmentId,
) {
  const environment = await queries.findEnvironment(ctx.db, workspaceId, id);
  if (!environment) throw environmentNotFound();
  const checkedAt = ctx.clock.now().toISOString();
  if (environment.serverId === null) return { containers: [], checkedAt };
  const { remote } = await connectTo(ctx.servers, workspaceId, environment.serverId);
  const seen = await lookAtContainers(remote, workspaceId, id);
  return { containers: seen.map(({ shown }) => shown), checkedAt };
}

/** Two round trips: which there are, and how each is. One that goes in between is left out. */
export async function lookAtContainers(
  remote: Remote,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  signal?: AbortSignal,
): Promise<SeenContainer[]> {
  const labels = { slipway: 'app', 'slipway.workspace': workspaceId, 'slipway.environment': environmentId };
  const options = signal ? { signal } : {};
  const [list] = await ask(remote, [listContainers(labels)], options);
  const ids = list ? readContainers(list).map(({ id }) => id) : [];
  const replies = await ask(remote, [...ids.map(inspectContainer), ...ids.map(statsOf)], options);
  const seen = ids.flatMap((id, index) => {
    const [inspected, stats] = [replies[index], replies[ids.length + index]];
    const state = inspected && readContainer(inspected);
    return state ? [{ id, shown: shown(state, stats && readMemory(stats)) }] : [];
  });
  return seen.sort((one, other) => order(one.shown) - order(other.shown) || compare(one.shown, other.shown));
}

function shown(
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
