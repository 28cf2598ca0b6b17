/** What goes over the wire about notification connectors. */
import Type, { type TObject } from 'typebox';
import { connectorKinds } from '../../adapters/connectors/connectors.ts';
import { noticeKinds } from '../../events/notices.ts';
import { closed, Id, idOf, nullable, oneLine, Time } from '../../http/schemas.ts';
import type { ConnectorId, ProjectId } from '../../ids.ts';
import type { NewConnector } from './create-connector.ts';

const types = connectorKinds.map(({ type }) => type);

const Name = Type.String({
  minLength: 1,
  maxLength: 60,
  pattern: oneLine,
  examples: ['Team channel'],
});
const NoticeKind = Type.Enum([...noticeKinds], { title: 'NoticeKind' });
const Events = Type.Array(NoticeKind, {
  maxItems: 100,
  examples: [['deployment_failed', 'environment_degraded']],
});
const AllProjects = Type.Boolean({
  description:
    'Whether it hears of every project, or only of those it is linked to; the latter, if not said.',
});

function exampleOf({ properties }: TObject): Record<string, unknown> {
  const examples = Object.entries(properties).map(([name, field]) => [name, Object(field).examples?.[0]]);
  return Object.fromEntries(examples);
}

/** One for each kind, so that what is wrong with a `config` is said by the kind that was meant. */
const perKind = connectorKinds.map(({ type, Config }) =>
  Type.Object(
    {
      type: Type.Literal(type),
      name: Name,
      config: Config,
      events: Type.Optional({
        ...Events,
        description:
          'What it listens to; everything but starts and cancellations of deployments, if not said.',
      }),
      allProjects: Type.Optional(AllProjects),
      enabled: Type.Optional(Type.Boolean({ description: 'Yes, if not said.' })),
    },
    {
      ...closed,
      title: `New${type.slice(0, 1).toUpperCase()}${type.slice(1)}Connector`,
      examples: [{ type, name: 'Team channel', config: exampleOf(Config) }],
    },
  ),
);

// A list of kinds that grows has no type that could be read off it; all of them have this shape.
export const CreateBody = Type.Unsafe<NewConnector>(
  Type.Union(perKind, {
    title: 'NewNotificationConnector',
    examples: [
      {
        type: 'slack',
        name: 'Team channel',
        config: { webhookUrl: 'https://hooks.slack.com/services/T000/B000/XXXX' },
      },
    ],
  }),
);

// What the configs of all kinds are made of; which of it a kind takes, it says itself.
const ConfigValue = Type.Union([
  Type.String({ maxLength: 2_000 }),
  Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 20 }),
]);

export const ChangeBody = Type.Object(
  {
    name: Type.Optional(Name),
    events: Type.Optional(Events),
    allProjects: Type.Optional(AllProjects),
    enabled: Type.Optional(
      Type.Boolean({ description: 'One that is switched on again begins with a clean sheet.' }),
    ),
    config: Type.Optional(
      Type.Record(Type.String(), ConfigValue, {
        ...closed,
        maxProperties: 20,
        description: 'Of the same type, whole. A webhook keeps its `secret` where it is left out.',
        examples: [{ webhookUrl: 'https://hooks.slack.com/services/T000/B000/YYYY' }],
      }),
    ),
  },
  { ...closed, title: 'NotificationConnectorChange', minProperties: 1, examples: [{ enabled: true }] },
);

const status = Type.Enum(['pending', 'sending', 'delivered', 'failed', 'unknown'], {
  description:
    '`pending` waits for its first or next try. `unknown`: it may have arrived, and is not sent again because the receiver could not tell a repeat.',
});

export const ConnectorAnswer = Type.Object(
  {
    id: Id,
    type: Type.Enum(types),
    name: Type.String({ examples: ['Team channel'] }),
    events: Type.Array(NoticeKind),
    allProjects: Type.Boolean(),
    target: Type.String({
      description: 'Where it leads, as far as it is shown.',
      examples: ['https://hooks.slack.com/…'],
    }),
    recipients: Type.Array(
      Type.Object({
        address: Type.String({ examples: ['team@example.com'] }),
        status: Type.Enum(['member', 'pending', 'confirmed', 'declined'], {
          description:
            'Members of the workspace get mail at once. Everyone else is asked by one mail, and gets nothing else until they agree; who declines gets nothing of this workspace any more.',
        }),
      }),
      { description: 'Of a connector of mail; none otherwise.' },
    ),
    enabled: Type.Boolean(),
    disabledReason: nullable(Type.String({ description: 'Why it was switched off, where we did.' })),
    failingSince: nullable({ ...Time, description: 'Since when nothing could be delivered by it.' }),
    lastDelivery: nullable(
      Type.Object({ id: Id, event: Type.String({ examples: ['deployment_failed'] }), status, at: Time }),
    ),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'NotificationConnector' },
);

export const CreatedAnswer = Type.Intersect(
  [
    ConnectorAnswer,
    Type.Object({
      secret: nullable(
        Type.String({
          description:
            'What deliveries of a webhook are signed with, where it was made for it. In this answer only, and not when the request is sent again.',
        }),
      ),
    }),
  ],
  { title: 'CreatedNotificationConnector' },
);
export const ConnectorsAnswer = Type.Object(
  { items: Type.Array(ConnectorAnswer), nextCursor: nullable(Type.String()) },
  { title: 'NotificationConnectorList' },
);

export const ConsentBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 256, examples: ['consent_…'] }),
    answer: Type.Enum(['confirm', 'decline'], {
      description: 'The token of an unsubscribe link only declines.',
      examples: ['confirm'],
    }),
  },
  { ...closed, title: 'RecipientAnswer' },
);

export const TestAnswer = Type.Object(
  {
    delivered: Type.Boolean(),
    status: nullable(Type.Integer({ description: 'Of the answer, where there was one.', examples: [200] })),
    latencyMs: Type.Integer(),
    detail: Type.String({ description: 'What the receiver answered, or why there was no answer.' }),
  },
  { title: 'NotificationTest' },
);

export const DeliveriesAnswer = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: Id,
          event: Type.String({
            description: 'The kind of notice, or `test`.',
            examples: ['deployment_failed'],
          }),
          status,
          attempts: Type.Integer(),
          answerStatus: nullable(Type.Integer({ examples: [200] })),
          latencyMs: nullable(Type.Integer()),
          detail: nullable(Type.String({ description: 'What the receiver answered at the last try.' })),
          messageId: nullable({
            ...Id,
            description: 'Of the message it left in. Those that came close together share one.',
          }),
          subject: nullable(Type.Object({ type: Type.String({ examples: ['deployment'] }), id: Id })),
          projectId: nullable(Id),
          environmentId: nullable(Id),
          createdAt: Time,
          attemptedAt: nullable(Time),
          finishedAt: nullable(Time),
        },
        { title: 'NotificationDelivery' },
      ),
    ),
    nextCursor: nullable(Type.String()),
  },
  { title: 'NotificationDeliveryList' },
);

export const ProjectParams = Type.Object({ projectId: idOf<ProjectId>() }, closed);

export const LinksBody = Type.Object(
  {
    connectorIds: Type.Array(idOf<ConnectorId>(), {
      maxItems: 50,
      description: 'All that are to hear of the project.',
    }),
    events: Type.Optional(
      nullable({
        ...Events,
        description: 'What they are told of this project; null or left out: what each listens to itself.',
      }),
    ),
  },
  {
    ...closed,
    title: 'ProjectNotifications',
    examples: [{ connectorIds: ['01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b'], events: ['deployment_failed'] }],
  },
);

export const LinksAnswer = Type.Object(
  {
    projectId: Id,
    connectorIds: Type.Array(Id),
    events: nullable(Type.Array(NoticeKind)),
  },
  { title: 'ProjectNotificationLinks' },
);
