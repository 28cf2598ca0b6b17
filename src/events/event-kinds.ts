/**
 * Every event that a feed can have: its schema for the document, and its type for those who write it and those who read
 * it. Whoever comes back to a place that is no longer kept first gets `reset`.
 */
import Type, { type TProperties } from 'typebox';
import { FaultAnswer, Id, nullable, Time } from '../wire.ts';

/** One kind of event: what the JSON of its `data` is. */
export function eventOf<const Kind extends string, const P extends TProperties>(
  title: string,
  kind: Kind,
  description: string,
  data: P,
) {
  return Type.Object({ kind: Type.Literal(kind), at: Time, ...data }, { title, description });
}

/** As it is appended to a feed, which knows when. */
export type News<Event> = Event extends { readonly kind: infer Kind }
  ? { readonly kind: Kind; readonly data: Omit<Event, 'kind' | 'at'> }
  : never;

const ResetEvent = eventOf(
  'ResetEvent',
  'reset',
  'What was before is no longer kept: load anew what you show.',
  {
    reason: Type.String({ examples: ['Older events are no longer kept.'] }),
  },
);

const step = Type.String({ description: 'The step that it is at.', examples: ['build'] });
const fault = Type.Optional(FaultAnswer);
const reason = (description: string, examples: string[]) => Type.String({ description, examples });

const StepLogEvent = eventOf('StepLogEvent', 'log', 'A line of a step.', {
  step,
  line: Type.String({ examples: ['#8 [build 4/5] RUN npm run build'] }),
});
const StepProgressEvent = eventOf('StepProgressEvent', 'progress', 'How far a step is.', {
  step,
  fraction: Type.Number({ minimum: 0, maximum: 1 }),
  text: nullable(Type.String({ examples: ['120 of 300 MB'] })),
});

export const OperationStatus = Type.Enum(
  ['queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'],
  { title: 'OperationStatus', description: '`succeeded`, `failed` and `cancelled` are final.' },
);
const EndStatus = Type.Enum(['succeeded', 'failed', 'cancelled']);

export const OperationEvent = Type.Union(
  [
    eventOf('OperationStatusEvent', 'status', 'Its status, or that of one of its steps, has changed.', {
      status: OperationStatus,
      step: Type.Optional(step),
      stepStatus: Type.Optional(Type.Enum(['running', 'waiting', 'done', 'failed', 'undoing', 'undone'])),
      attempt: Type.Optional(Type.Integer({ examples: [1] })),
      waitMs: Type.Optional(Type.Integer({ description: 'How long it waits before it tries again.' })),
      unwinding: Type.Optional(
        Type.Enum(['failed', 'cancelled'], {
          description: 'From here on it undoes what it did; how it will end.',
        }),
      ),
      fault,
    }),
    StepProgressEvent,
    StepLogEvent,
    eventOf('OperationEndEvent', 'end', 'It is over; the last event.', { status: EndStatus, fault }),
    ResetEvent,
  ],
  { title: 'OperationEvent' },
);
export type OperationEvent = Type.Static<typeof OperationEvent>;

export type OperationStatus = Type.Static<typeof OperationStatus>;

export const AnalysisStatus = Type.Enum(['queued', 'fetching', 'analyzing', 'succeeded', 'failed'], {
  title: 'AnalysisStatus',
});
const analysisStatus = { status: AnalysisStatus, fault };

export const AnalysisEvent = Type.Union(
  [
    eventOf('AnalysisStatusEvent', 'status', 'Its status has changed.', analysisStatus),
    eventOf('AnalysisFindingEvent', 'finding', 'Something that was found, as a sentence.', {
      about: Type.Enum(['app', 'service', 'variables', 'monorepo', 'warning']),
      text: Type.String({ examples: ['Needs postgres: package.json depends on pg.'] }),
    }),
    eventOf('AnalysisEndEvent', 'end', 'It is over; the last event.', analysisStatus),
    ResetEvent,
  ],
  { title: 'AnalysisEvent' },
);
export type AnalysisEvent = Type.Static<typeof AnalysisEvent>;

export const DeploymentStatus = Type.Enum(
  [
    ...(['queued', 'preparing', 'building', 'starting', 'switching'] as const),
    ...(['succeeded', 'failed', 'cancelled', 'superseded'] as const),
  ],
  {
    title: 'DeploymentStatus',
    description:
      '`queued → preparing → building → starting → switching → succeeded`, or `failed`, `cancelled`, `superseded` from any state before. Which deployment is live is the environment’s `currentDeploymentId`.',
  },
);
const deploymentStatus = {
  status: DeploymentStatus,
  step: Type.Optional(nullable(step)),
  fault,
};

export const DeploymentEvent = Type.Union(
  [
    eventOf(
      'DeploymentStatusEvent',
      'status',
      'Its status, or the step it is at, has changed.',
      deploymentStatus,
    ),
    StepProgressEvent,
    StepLogEvent,
    eventOf('DeploymentEndEvent', 'end', 'It is over; the last event.', deploymentStatus),
    ResetEvent,
  ],
  { title: 'DeploymentEvent' },
);
export type DeploymentEvent = Type.Static<typeof DeploymentEvent>;

export const BackupStatus = Type.Enum(['queued', 'dumping', 'storing', 'verifying', 'succeeded', 'failed'], {
  title: 'BackupStatus',
  description: '`succeeded` and `failed` are final. A cancelled one has failed with the code `cancelled`.',
});

const projectReasons = [
  ...(['created', 'changed', 'deleted', 'analysis', 'finalized', 'deployment', 'environment'] as const),
  ...(['environment_created', 'environment_changed', 'environment_deleted', 'variables', 'branch'] as const),
  ...(['server', 'auto_deploy', 'services', 'services_ready', 'domain'] as const),
] as const;

const ProjectUpdate = eventOf(
  'ProjectUpdatedEvent',
  'project_updated',
  'A project, or something of it, has changed.',
  {
    projectId: Id,
    reason: Type.Enum([...projectReasons], { description: 'What of it.' }),
    environmentId: Type.Optional(Id),
    deploymentId: Type.Optional(Id),
    status: Type.Optional(reason('The new status of what the reason names.', ['succeeded'])),
  },
);
export type ProjectUpdate = Type.Static<typeof ProjectUpdate>;

const GitProviderUpdate = eventOf(
  'GitProviderUpdatedEvent',
  'git_provider_updated',
  'An account at a Git host has changed.',
  {
    providerId: Id,
    reason: Type.Enum(['connected', 'token_replaced', 'disconnected', 'rejected', 'unreachable']),
  },
);
export type GitProviderUpdate = Type.Static<typeof GitProviderUpdate>;

export const WorkspaceEvent = Type.Union(
  [
    ProjectUpdate,
    eventOf('OperationUpdatedEvent', 'operation_updated', 'The status of an operation has changed.', {
      operationId: Id,
      operationKind: Type.String({ examples: ['deployment'] }),
      projectId: Type.Optional({ ...Id, description: 'Where it is about one.' }),
      status: OperationStatus,
    }),
    eventOf('ServerUpdatedEvent', 'server_updated', 'A server has changed.', {
      serverId: Id,
      reason: reason('What of it, or the code of its problem.', ['provisioned', 'remote_unreachable']),
    }),
    eventOf('ClusterUpdatedEvent', 'cluster_updated', 'A cluster, or a server of it, has changed.', {
      clusterId: Id,
      reason: reason('What of it, or its new status.', ['joined', 'degraded']),
    }),
    GitProviderUpdate,
    eventOf('DomainUpdatedEvent', 'domain_updated', 'A domain or a certificate has changed.', {
      domainId: Type.Optional(Id),
      certificateId: Type.Optional(Id),
      hostname: Type.String({ examples: ['shop.example.com'] }),
      reason: reason('What of it.', ['verified']),
      status: Type.Optional(reason('Its new status.', ['issued'])),
    }),
    eventOf('BackupUpdatedEvent', 'backup_updated', 'A backup has changed.', {
      backupId: Id,
      environmentId: Id,
      projectId: Type.Optional({ ...Id, description: 'Where its environment is still there.' }),
      status: BackupStatus,
      reason: Type.Optional(reason('What of it, beside its status.', ['deleted'])),
    }),
    eventOf('ConnectorUpdatedEvent', 'connector_updated', 'A notification connector has changed.', {
      connectorId: Id,
      reason: Type.Enum([
        ...(['created', 'changed', 'deleted', 'linked', 'failing', 'recovered', 'disabled'] as const),
      ]),
    }),
    ResetEvent,
  ],
  { title: 'WorkspaceEvent' },
);
export type WorkspaceEvent = Type.Static<typeof WorkspaceEvent>;
