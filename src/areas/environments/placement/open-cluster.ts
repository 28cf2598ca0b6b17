/** A cluster in hand for one step of work on an environment that stands on it. */
import { capacityOf } from '../../../engine/capacity.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import type { Placement } from '../../../engine/placement.ts';
import { type Cluster, type ClusterServer, clusterOf } from '../../../engine/swarm/cluster.ts';
import { Fault } from '../../../fault.ts';
import type { ClusterId } from '../../../ids.ts';
import type { Fence, Remote } from '../../../remote/remote.ts';
import { type ClusterMember, readMembers } from '../../clusters/read-clusters.ts';
import { connectTo } from '../../servers/connection/connect-server.ts';
import { isServerUnavailable } from '../../servers/connection/server-retry.ts';
import type { ServerAccess } from '../../servers/servers.ts';

export interface ClusterWork {
  readonly fence: Fence;
  readonly signal: AbortSignal;
  /** Of every member: so that nothing that is printed has a secret of the environment. */
  readonly known: (remote: Remote) => Remote;
  /** How long its managers may need to choose a leader; none at all if not said: work is begun again by itself. */
  readonly electionMs?: number;
}

export async function openCluster(
  servers: ServerAccess,
  placement: Placement & { readonly clusterId: ClusterId },
  { fence, signal, known, electionMs }: ClusterWork,
): Promise<Cluster> {
  const { workspaceId, clusterId, serverId } = placement;
  const rows = await readMembers(servers.db, workspaceId, clusterId);
  const members: ClusterServer[] = [];
  for (const { serverId: id, name, nodeId, address } of rows.toSorted(byUse)) {
    if (nodeId === null || address === null) continue;
    const { remote, facts } = await connectTo(servers, workspaceId, id);
    // The place is the environment's; which server it is worked on at is the host's.
    const host: DockerHost = {
      placement: { ...placement, serverId: id },
      remote: known(remote),
      capacity: capacityOf(facts),
      fence,
      signal,
    };
    members.push({ serverId: id, name, nodeId, address, host });
  }
  const home = members.find((each) => each.serverId === serverId)?.host ?? members[0]?.host;
  if (!home)
    throw new Fault('server_not_ready', 'The cluster has no server that is ready.', {
      hint: 'GET /clusters/:id says why. Add one with POST /clusters/:id/servers.',
    });
  const capacities = members.map(({ host }) => host.capacity);
  const about = {
    placement,
    signal,
    home: { ...home, placement },
    servers: members,
    capacity: {
      memoryMb: Math.min(...capacities.map(({ memoryMb }) => memoryMb)),
      cpus: Math.min(...capacities.map(({ cpus }) => cpus)),
    },
    isEncrypted: rows.every(({ canEncrypt }) => canEncrypt === true),
    isAway: isServerUnavailable,
  };
  return clusterOf(about, electionMs);
}

/** The leader first; one that was down at the last look is asked last. */
function byUse(one: ClusterMember, other: ClusterMember): number {
  const rank = ({ state, role, isLeader }: ClusterMember) =>
    Number(state === 'down') * 4 + Number(role === 'worker') * 2 + Number(!isLeader);
  return rank(one) - rank(other);
}
