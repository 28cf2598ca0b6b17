/** What goes over the wire about environments. */
import Type from 'typebox';
import { DeploymentStatus } from '../../events/event-kinds.ts';
import {
  closed,
  FaultAnswer,
  Id,
  idOf,
  matching,
  nullable,
  oneLine,
  PageQuery,
  Time,
} from '../../http/schemas.ts';
import type { ClusterId, ProjectId, ServerId } from '../../ids.ts';
import { NameAnswer } from '../domains/schemas.ts';
import { ServiceInEnvironment, WantedService } from '../services/schemas.ts';
import { EnvironmentSettings, Needs, resettable, SpreadSetting } from './settings-schemas.ts';
import { NewVariable } from './variables/schemas.ts';

export const BranchName = Type.String({
  minLength: 1,
  maxLength: 250,
  pattern: matching(
    '^(?![-/.])(?!@$)(?!.*(\\.\\.|//|/\\.|@\\{|\\.lock(/|$)))[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+(?<![/.])$',
    'must be the name of a branch as Git allows it, without spaces and without refs/heads/, such as `main` or `feature/login`',
  ),
  examples: ['main'],
});

export const EnvironmentName = Type.String({
  minLength: 1,
  maxLength: 40,
  pattern: oneLine,
  description: 'Yours to choose; once in a project.',
  examples: ['production'],
});

const limit = (unit: string) =>
  Type.Object({
    limit: Type.Number({ description: unit }),
    source: Type.Enum(['setting', 'default', 'server'], {
      description: '`server`: what was set is more than the server can give.',
    }),
  });

const Resources = Type.Object(
  { memoryMb: limit('In MB.'), cpus: limit('Of one processor each.') },
  {
    title: 'Resources',
    description:
      'The most that each container may use, by the settings or by the size of the server; from the next deployment on. Null without a server, or before it was reached.',
    examples: [{ memoryMb: { limit: 2764, source: 'default' }, cpus: { limit: 1.8, source: 'default' } }],
  },
);

const LastDeployment = Type.Object(
  {
    id: Id,
    number: Type.Integer({ examples: [12] }),
    status: DeploymentStatus,
    message: nullable(
      Type.String({ description: 'Of its commit.', examples: ['Show the basket beside the list'] }),
    ),
    queuedAt: Time,
    finishedAt: nullable(Time),
  },
  { title: 'LastDeployment', description: 'The newest, whatever became of it.' },
);

export const Placement = Type.Union(
  [
    Type.Object({ serverId: idOf<ServerId>() }, closed),
    Type.Object(
      {
        clusterId: idOf<ClusterId>(),
        replicas: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 10, description: 'As the setting.', examples: [3] }),
        ),
        spread: Type.Optional({ ...SpreadSetting, description: 'As the setting.' }),
      },
      closed,
    ),
  ],
  { title: 'Placement', description: 'A server, or a cluster as a whole.' },
);

export const EnvironmentAnswer = Type.Object(
  {
    id: Id,
    projectId: Id,
    name: Type.String({ examples: ['production'] }),
    slug: Type.String({ examples: ['shop-production-k3x9ta'] }),
    branch: Type.String({ examples: ['main'] }),
    serverId: nullable({ ...Id, description: 'On a cluster: the member that builds it.' }),
    placement: nullable(Placement),
    autoDeploy: Type.Boolean(),
    watchPaths: Type.Array(Type.String({ examples: ['apps/web'] })),
    settings: EnvironmentSettings,
    resources: nullable(Resources),
    services: Type.Array(ServiceInEnvironment),
    domain: nullable(NameAnswer),
    currentDeploymentId: nullable({ ...Id, description: 'The deployment that is live.' }),
    lastDeployment: nullable(LastDeployment),
    status: Type.Enum(['idle', 'deploying', 'running', 'degraded', 'stopped']),
    problem: { ...nullable(FaultAnswer), description: 'Why it is degraded.' },
    url: nullable(
      Type.String({
        description: 'Where it answers, once it has a place.',
        examples: ['http://203.0.113.7:21000'],
      }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Environment' },
);

export const EnvironmentsAnswer = Type.Object(
  { items: Type.Array(EnvironmentAnswer), nextCursor: nullable(Type.String()) },
  { title: 'EnvironmentList' },
);

export const EnvironmentsQuery = Type.Object(
  {
    projectId: Type.Optional({ ...idOf<ProjectId>(), description: 'Only those of this project.' }),
    ...PageQuery.properties,
  },
  closed,
);

export const CreateBody = Type.Object(
  {
    projectId: idOf<ProjectId>(),
    name: EnvironmentName,
    branch: Type.Optional({ ...BranchName, description: 'The branch that was analysed, if not said.' }),
    serverId: Type.Optional(idOf<ServerId>()),
    placement: Type.Optional(Placement),
    settings: Type.Optional(EnvironmentSettings),
    variables: Type.Optional(Type.Array(NewVariable, { maxItems: 500 })),
    services: Type.Optional(
      Type.Array(WantedService, {
        maxItems: 10,
        description: 'The wanted whole; those that the analysis calls needed, if not said.',
      }),
    ),
    autoDeploy: Type.Optional(
      Type.Boolean({ description: 'Whether a push to the branch is deployed; false if not said.' }),
    ),
  },
  {
    ...closed,
    title: 'NewEnvironment',
    examples: [
      {
        projectId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b',
        name: 'staging',
        branch: 'develop',
        settings: { replicas: 2 },
        variables: [{ key: 'API_KEY', value: 's3cret' }],
      },
    ],
  },
);

const WatchPaths = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: matching(
      '^(?!/)[^\\p{C}\\\\]+$',
      'must be a folder or pattern of the repository without a slash in front, such as `apps/web`',
    ),
    examples: ['apps/web'],
  }),
  {
    maxItems: 50,
    description:
      'Folders or patterns; only a push that changes something under them deploys. None: any push.',
    examples: [['apps/web', 'packages/*/src']],
  },
);

export const UpdateBody = Type.Object(
  {
    name: Type.Optional(EnvironmentName),
    settings: Type.Optional(EnvironmentSettings),
    resetSettings: Type.Optional(
      Type.Array(Type.Enum(resettable), {
        maxItems: 50,
        description: 'Settings that are to be as the analysis found them again.',
        examples: [['buildCommand']],
      }),
    ),
    watchPaths: Type.Optional(WatchPaths),
  },
  { ...closed, title: 'EnvironmentChange', minProperties: 1 },
);

export const ChangedAnswer = Type.Intersect([EnvironmentAnswer, Type.Object({ needs: Needs })], {
  title: 'ChangedEnvironment',
});

export const BranchBody = Type.Object({ branch: BranchName }, { ...closed, title: 'BranchChange' });

export const ServerBody = Type.Object(
  {
    serverId: Type.Optional(
      nullable({
        ...idOf<ServerId>(),
        description: 'Null unlinks it, where nothing of it stands anywhere.',
      }),
    ),
    placement: Type.Optional(Placement),
    leaveData: Type.Optional(
      Type.Boolean({
        description:
          'Leaves the data of services and volumes on the old server; they begin empty on the new one.',
        examples: [false],
      }),
    ),
  },
  { ...closed, title: 'ServerLink' },
);

export const LinkedAnswer = Type.Object(
  {
    environment: EnvironmentAnswer,
    deployment: nullable(
      Type.Object(
        { id: Id, status: Type.Enum(['queued']) },
        { description: 'The one that brings it there. Null where nothing had to move.' },
      ),
    ),
  },
  { title: 'LinkedEnvironment' },
);

export const AutoDeployBody = Type.Object(
  { enabled: Type.Boolean({ examples: [true] }), watchPaths: Type.Optional(WatchPaths) },
  { ...closed, title: 'AutoDeploy' },
);

export const AutoDeployAnswer = Type.Intersect(
  [
    EnvironmentAnswer,
    Type.Object({
      webhook: nullable(
        Type.Object(
          {
            installed: Type.Boolean({
              description: 'Made at the provider by us. If not, polling finds pushes.',
            }),
            url: Type.String({ examples: ['https://slipway.example.com/api/v1/webhooks/git/github/…'] }),
            problem: nullable(FaultAnswer),
          },
          { description: 'Null where it was switched off.' },
        ),
      ),
    }),
  ],
  { title: 'AutoDeployEnvironment' },
);

/** For those who delete. Without a word about it, what has data is not deleted. */
export const DeleteQuery = Type.Object(
  {
    deleteData: Type.Optional(
      Type.Boolean({
        description: 'Whether volumes are deleted too. Must be said where there is data.',
        examples: [false],
      }),
    ),
    force: Type.Optional(
      Type.Boolean({
        description: 'Forgets it also where its server cannot be reached; what is there stays there.',
        examples: [false],
      }),
    ),
  },
  closed,
);
