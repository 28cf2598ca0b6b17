/** What a cluster is, from what its managers say; and what is wrong, in words, with the way out. Pure. */
import { majorityOf } from '../../engine/swarm/managers.ts';
import type { SwarmNode } from '../../engine/swarm/nodes.ts';
import type { ServerId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Availability, ClusterStatus } from './clusters.ts';

export interface KnownMember {
  readonly serverId: ServerId;
  readonly name: string;
  readonly nodeId: string | null;
  readonly role: 'manager' | 'worker' | null;
}

export interface SeenAs {
  readonly serverId: ServerId;
  readonly isUp: boolean;
  readonly role: 'manager' | 'worker';
  readonly isLeader: boolean;
  readonly availability: Availability;
}

export interface Judgement {
  readonly status: ClusterStatus;
  readonly problem: OperationFault | null;
  readonly members: readonly SeenAs[];
}

/** `nodes` is null where no manager with a majority answered; `answering` are those that answered at all. */
export function judgeCluster(
  members: readonly KnownMember[],
  nodes: readonly SwarmNode[] | null,
  answering: readonly ServerId[],
): Judgement {
  if (!nodes) return { ...withoutManagers(members, answering), members: [] };
  const seen = members.flatMap(({ serverId, nodeId }): SeenAs[] => {
    const node = nodes.find(({ id }) => id === nodeId);
    if (!node) return [];
    const { isLeader } = node;
    const role = node.isManager ? 'manager' : 'worker';
    return [
      {
        serverId,
        isUp: !node.isDown,
        role,
        isLeader,
        availability: node.availability === 'drain' ? 'drain' : 'active',
      },
    ];
  });
  const gone = members.filter(({ serverId }) => !seen.some((each) => each.serverId === serverId));
  const down = members.filter(({ serverId }) =>
    seen.some((each) => each.serverId === serverId && !each.isUp),
  );
  if (gone.length + down.length === 0) return { status: 'ready', problem: null, members: seen };
  const hint =
    'What ran there runs on the others. Start the server again, or take it out with DELETE /clusters/:id/servers/:serverId, with `lost=true` where it is gone for good.';
  const problem =
    down.length > 0
      ? fault('remote_unreachable', `${namesOf(down)} ${down.length === 1 ? 'is' : 'are'} down.`, hint)
      : fault(
          'server_in_swarm',
          `${namesOf(gone)} ${gone.length === 1 ? 'has' : 'have'} left the swarm, and not by Slipway.`,
          'Take the server out with DELETE /clusters/:id/servers/:serverId, and add it again.',
        );
  return { status: 'degraded', problem, members: seen };
}

function withoutManagers(
  members: readonly KnownMember[],
  answering: readonly ServerId[],
): Pick<Judgement, 'status' | 'problem'> {
  const managers = members.filter(({ role }) => role === 'manager');
  const away = managers.filter(({ serverId }) => !answering.includes(serverId));
  if (answering.length === 0)
    return {
      status: 'unreachable',
      problem: fault(
        'remote_unreachable',
        `No manager of the cluster can be reached (${namesOf(managers)}).`,
        'See each of them with GET /servers: their problem says why. What runs there may go on.',
      ),
    };
  const missing = Math.max(1, majorityOf(managers.length) - answering.length);
  return {
    status: 'no_quorum',
    problem: fault(
      'cluster_no_quorum',
      `${managers.length - away.length} of ${managers.length} managers answer, and ${majorityOf(managers.length)} are needed: what runs goes on, but nothing can be changed and nothing that fails is replaced.`,
      `Start ${missing === 1 ? 'one' : String(missing)} of ${namesOf(away.length > 0 ? away : managers)} again. If they are gone for good, delete the cluster with \`lost=true\` and make a new one of the servers that are left.`,
    ),
  };
}

function namesOf(members: readonly KnownMember[]): string {
  return members.map(({ name }) => name).join(', ') || 'none is known';
}

function fault(code: string, message: string, hint: string): OperationFault {
  return { code, step: null, message, hint, evidence: null };
}
