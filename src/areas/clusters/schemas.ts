/** What goes over the wire in this area. */
import Type from 'typebox';
import { closed, FaultAnswer, Id, idOf, matching, nullable, oneLine, Time } from '../../http/schemas.ts';
import type { ClusterId, ServerId } from '../../ids.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: oneLine,
  description: 'Yours to choose; once in a workspace.',
  examples: ['shop'],
});
const ServerIds = Type.Array(idOf<ServerId>(), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description: 'Servers of yours that are `ready`, in no cluster, and have no environment.',
  examples: [['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b']],
});
const Network = Type.String({
  maxLength: 18,
  pattern: matching(
    '^[0-9.]{7,15}/[0-9]{1,2}$',
    'must be an IPv4 network with all its bits, such as `10.0.0.0/16`',
  ),
  description:
    'The private network over which members speak. Without it, each speaks by the address that Slipway logs in to.',
  examples: ['10.0.0.0/16'],
});

export const CreateBody = Type.Object(
  { name: Name, serverIds: ServerIds, network: Type.Optional(Network) },
  { ...closed, title: 'NewCluster' },
);
export const UpdateBody = Type.Object({ name: Name }, { ...closed, title: 'ClusterChange' });
export const AddBody = Type.Object({ serverIds: ServerIds }, { ...closed, title: 'NewClusterServers' });

export const RebootBody = Type.Object(
  {
    update: Type.Optional(
      Type.Boolean({ description: 'Installs security updates first. No, if not said.', examples: [true] }),
    ),
    acceptDowntime: Type.Optional(
      Type.Boolean({
        description:
          'With fewer than three managers, or with data of environments, something is down meanwhile; without this it is refused.',
        examples: [false],
      }),
    ),
    backWithinMinutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 60,
        description: 'How long each may take to come back; 10 if not said.',
        examples: [10],
      }),
    ),
  },
  { ...closed, title: 'RollingReboot' },
);

export const LostQuery = Type.Object(
  {
    lost: Type.Optional(
      Type.Boolean({ description: 'Those that do not answer are gone for good: they are only forgotten.' }),
    ),
  },
  closed,
);
export const MemberParams = Type.Object(
  {
    id: { ...idOf<ClusterId>(), description: 'Of the cluster.' },
    serverId: { ...idOf<ServerId>(), description: 'Of a server in it.' },
  },
  closed,
);

const Managers = Type.Object(
  {
    wanted: Type.Integer({
      description: 'One up to two servers, three up to six, then five.',
      examples: [3],
    }),
    present: Type.Integer({ examples: [3] }),
    reachable: Type.Integer({ examples: [3] }),
    needed: Type.Integer({ description: 'A majority: without it nothing can be changed.', examples: [2] }),
    inWords: Type.String({ examples: ['3 of 3 managers answer; one more may be lost.'] }),
  },
  { title: 'ClusterManagers' },
);

const Member = Type.Object(
  {
    serverId: Id,
    name: Type.String({ description: 'Of the server.', examples: ['web-1'] }),
    state: Type.Enum(['joining', 'ready', 'down', 'leaving']),
    role: nullable(Type.Enum(['manager', 'worker'])),
    isLeader: Type.Boolean(),
    availability: Type.Enum(['active', 'drain'], { description: 'On `drain`, nothing is placed on it.' }),
    address: nullable(Type.String({ description: 'By which the others reach it.', examples: ['10.0.0.2'] })),
    downSince: nullable(Time),
  },
  { title: 'ClusterMember' },
);

export const ClusterAnswer = Type.Object(
  {
    id: Id,
    name: Name,
    network: nullable(Type.String({ examples: ['10.0.0.0/16'] })),
    status: Type.Enum(['creating', 'ready', 'degraded', 'no_quorum', 'unreachable', 'failed'], {
      description:
        '`degraded`: a server is down, and the others go on. `no_quorum`: the managers have lost their majority. `failed`: it could not be made, and has no servers.',
    }),
    problem: nullable(FaultAnswer),
    operationId: nullable({ ...Id, description: 'The operation that changes it, or did last.' }),
    managers: Managers,
    overlayEncryption: Type.Enum(['available', 'unavailable', 'unknown'], {
      description: 'Whether the kernels of all members can encrypt what containers say to each other.',
    }),
    members: Type.Array(Member),
    checkedAt: nullable(Time),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Cluster' },
);

export const ClustersAnswer = Type.Object(
  { items: Type.Array(ClusterAnswer), nextCursor: nullable(Type.String()) },
  { title: 'ClusterList' },
);
