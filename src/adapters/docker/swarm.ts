/** Swarm mode over Docker's API: a server's own view of it, and what a manager knows of all nodes. */
import type { Call, Reply } from './docker.ts';
import { fieldsOf, listOf, numberOf, textOf, textsOf } from './json.ts';

/** 2377 is the managers', 7946 gossip among all, 4789 the packets of overlay networks. */
export const swarmPorts = { tcp: [2377, 7946], udp: [7946, 4789] } as const;

/**
 * For overlay networks: the second half of what is set aside for measurements (RFC 2544). Docker's own default is 10.0.0.0/8,
 * where clouds have their private networks.
 */
const overlayPool = '198.19.0.0/16';
/** Of the bridge by which containers of overlay networks leave the server: our rules know them by it. */
const gatewayBridge = {
  name: 'docker_gwbridge',
  subnet: '198.18.240.0/20',
  gateway: '198.18.240.1',
} as const;

/** Joining waits for the managers' answer. */
const slowMs = 90_000;

export interface SwarmView {
  readonly state: 'inactive' | 'pending' | 'active' | 'error' | 'locked';
  readonly nodeId: string;
  readonly isManager: boolean;
  /** What Docker says where it is no working member. */
  readonly error: string;
  readonly hasLiveRestore: boolean;
}

export interface SwarmNode {
  readonly id: string;
  readonly version: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly isManager: boolean;
  readonly isLeader: boolean;
  /** Whether the managers count it as one of them: so still for a moment after it was demoted. */
  readonly isCounted: boolean;
  /** Of a manager: whether the others reach it. */
  readonly isReachable: boolean;
  readonly isUp: boolean;
  /** Neither for a while after the leader has changed: the new one has not heard of it yet. */
  readonly isDown: boolean;
  readonly availability: 'active' | 'pause' | 'drain';
  /** When it last went, came back, or was given another role or availability. */
  readonly changedAt: Date;
}

export const info: Call = { method: 'GET', path: '/info', ok: [200] };

const states = ['inactive', 'pending', 'active', 'error', 'locked'] as const;

export function readSwarmView({ body }: Reply): SwarmView {
  const swarm = fieldsOf(body, 'Swarm');
  return {
    state: states.find((each) => each === swarm.LocalNodeState) ?? 'inactive',
    nodeId: textOf(swarm.NodeID),
    isManager: swarm.ControlAvailable === true,
    error: textOf(swarm.Error),
    hasLiveRestore: fieldsOf(body).LiveRestoreEnabled === true,
  };
}

/** Docker makes this bridge by itself on joining, with addresses of its own choice, unless it is there. */
export function createGatewayBridge(labels: Readonly<Record<string, string>>): Call {
  const body = {
    Name: gatewayBridge.name,
    Driver: 'bridge',
    CheckDuplicate: true,
    EnableIPv6: false,
    IPAM: { Driver: 'default', Config: [{ Subnet: gatewayBridge.subnet, Gateway: gatewayBridge.gateway }] },
    Options: {
      'com.docker.network.bridge.name': gatewayBridge.name,
      // Containers of two environments are neighbours on it.
      'com.docker.network.bridge.enable_icc': 'false',
      'com.docker.network.bridge.enable_ip_masquerade': 'true',
    },
    Labels: labels,
  };
  return { method: 'POST', path: '/networks/create', body, ok: [201, 409] };
}

/** The ingress network's own end stays on it when a server has left, and would keep it. */
export const removeGatewayBridge: readonly Call[] = [
  {
    method: 'POST',
    path: `/networks/${gatewayBridge.name}/disconnect`,
    body: { Container: 'gateway_ingress-sbox', Force: true },
    ok: [200, 403, 404, 500],
  },
  { method: 'DELETE', path: `/networks/${gatewayBridge.name}`, ok: [204, 404] },
];

export function initSwarm(address: string, labels: Readonly<Record<string, string>>): Call {
  const body = {
    ...listening(address),
    DefaultAddrPool: [overlayPool],
    SubnetSize: 24,
    Spec: { Name: 'default', Labels: labels },
  };
  return { method: 'POST', path: '/swarm/init', body, ok: [200], timeoutMs: slowMs };
}

export function joinSwarm(address: string, managers: readonly string[], token: string): Call {
  const RemoteAddrs = managers.map((each) => `${each}:${swarmPorts.tcp[0]}`);
  const body = { ...listening(address), RemoteAddrs, JoinToken: token };
  return { method: 'POST', path: '/swarm/join', body, ok: [200], timeoutMs: slowMs };
}

function listening(address: string) {
  const AdvertiseAddr = `${address}:${swarmPorts.tcp[0]}`;
  return { ListenAddr: `0.0.0.0:${swarmPorts.tcp[0]}`, AdvertiseAddr, DataPathAddr: address };
}

/** Forced, because a manager refuses otherwise; whoever asks has made it a worker first, where others are left. */
export const leaveSwarm: Call = {
  method: 'POST',
  path: '/swarm/leave?force=true',
  ok: [200, 406, 503],
  timeoutMs: slowMs,
};

/** 503: no manager, or one without a leader. */
export const inspectSwarm: Call = { method: 'GET', path: '/swarm', ok: [200, 406, 500, 503] };

export interface OwnSwarm {
  readonly labels: Readonly<Record<string, string>>;
  readonly version: number;
  readonly spec: unknown;
  readonly workerToken: string;
}

export function readSwarm({ status, body }: Reply): OwnSwarm | undefined {
  if (status !== 200) return undefined;
  return {
    labels: textsOf(fieldsOf(body, 'Spec').Labels),
    version: numberOf(fieldsOf(body, 'Version').Index),
    spec: fieldsOf(body).Spec,
    workerToken: textOf(fieldsOf(body, 'JoinTokens').Worker),
  };
}

/** A manager that has left knows the tokens. */
export function rotateTokens({ version, spec }: OwnSwarm): Call {
  const path = `/swarm/update?version=${version}&rotateWorkerToken=true&rotateManagerToken=true`;
  return { method: 'POST', path, body: spec, ok: [200] };
}

export const listNodes = {
  method: 'GET',
  path: '/nodes',
  ok: [200, 406, 500, 503],
  timeoutMs: 10_000,
} as const satisfies Call;

/** Undefined where it is no manager, or there is no leader. */
export function readNodes({ status, body }: Reply): SwarmNode[] | undefined {
  if (status !== 200) return undefined;
  return listOf(body).map((each) => {
    const [spec, manager] = [fieldsOf(each, 'Spec'), fieldsOf(each, 'ManagerStatus')];
    return {
      id: textOf(fieldsOf(each).ID),
      version: numberOf(fieldsOf(each, 'Version').Index),
      labels: textsOf(spec.Labels),
      isManager: spec.Role === 'manager',
      isLeader: manager.Leader === true,
      isCounted: Object.keys(manager).length > 0,
      isReachable: manager.Reachability === 'reachable',
      isUp: fieldsOf(each, 'Status').State === 'ready',
      isDown: ['down', 'disconnected'].includes(textOf(fieldsOf(each, 'Status').State)),
      availability:
        spec.Availability === 'drain' || spec.Availability === 'pause' ? spec.Availability : 'active',
      changedAt: new Date(textOf(fieldsOf(each).UpdatedAt)),
    };
  });
}

export interface NodeWish {
  readonly isManager?: boolean;
  readonly availability?: SwarmNode['availability'];
  readonly labels?: Readonly<Record<string, string>>;
}

/** 500 where somebody changed the node meanwhile: who asks looks again. */
export function updateNode(node: SwarmNode, wish: NodeWish): Call {
  const { isManager, availability, labels } = { ...node, ...wish };
  const body = { Role: isManager ? 'manager' : 'worker', Availability: availability, Labels: labels };
  return { method: 'POST', path: `/nodes/${node.id}/update?version=${node.version}`, body, ok: [200] };
}

export function removeNode(id: string): Call {
  return { method: 'DELETE', path: `/nodes/${id}?force=true`, ok: [200, 404] };
}

/** Those that run, or are to be ended, on one node. */
export function listTasksOn(nodeId: string): Call {
  const filters = encodeURIComponent(JSON.stringify({ node: [nodeId] }));
  return { method: 'GET', path: `/tasks?filters=${filters}`, ok: [200] };
}

const overStates = ['complete', 'shutdown', 'failed', 'rejected', 'remove', 'orphaned'];

export function countRunningTasks({ body }: Reply): number {
  const states = listOf(body).map((each) => textOf(fieldsOf(each, 'Status').State));
  return states.filter((each) => !overStates.includes(each)).length;
}
