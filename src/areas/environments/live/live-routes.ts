/** The paths of what runs now: the app's lines as they come, and its containers. */
import Type from 'typebox';
import { eventOf } from '../../../events/event-kinds.ts';
import { ofEnvironment, type Routes } from '../../../http/routes.ts';
import { closed, FaultCode, Id, idParams, nullable, Time } from '../../../http/schemas.ts';
import { apiPrefix } from '../../../http/server.ts';
import type { EnvironmentId } from '../../../ids.ts';
import { type LiveLogs, mostViewers } from './live-logs.ts';
import { mostTail } from './live-watch.ts';

const base = `${apiPrefix}/environments`;
const usualTail = 100;

const LogsQuery = Type.Object(
  {
    tail: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: mostTail,
        description: `So many of the last lines first; ${usualTail} if not said.`,
      }),
    ),
    process: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Of this process only.', examples: ['web'] }),
    ),
    ticket: Type.Optional(
      Type.String({ maxLength: 100, description: 'From `POST /auth/stream-ticket`, instead of the header.' }),
    ),
  },
  closed,
);

const ContainerAnswer = Type.Object(
  {
    name: Type.String(),
    process: Type.String({ examples: ['web'] }),
    replica: Type.Integer(),
    deploymentId: nullable(Id),
    serverId: { ...Id, description: 'Where it runs.' },
    state: Type.Enum(['created', 'running', 'restarting', 'paused', 'exited', 'dead', 'removing']),
    restarts: Type.Integer({ description: 'How often it was started again after it had ended by itself.' }),
    exitCode: nullable(Type.Integer({ description: 'How it ended; null where it runs.' })),
    isOutOfMemory: Type.Boolean(),
    startedAt: nullable(Time),
    memoryBytes: nullable(Type.Integer()),
    memoryLimitBytes: nullable(Type.Integer({ description: 'The server’s own, where it has no limit.' })),
  },
  { title: 'Container' },
);

const ContainersAnswer = Type.Object(
  { containers: Type.Array(ContainerAnswer), checkedAt: Time },
  { title: 'Containers' },
);

const LogEvent = Type.Union(
  [
    eventOf('LogLineEvent', 'line', 'A line of the app; `at` is when it was printed.', {
      container: Type.String({ examples: ['shop-production-k3x9ta-web-1'] }),
      process: Type.String({ examples: ['web'] }),
      replica: Type.Integer({ examples: [1] }),
      serverId: { ...Id, description: 'Where it was printed.' },
      stream: Type.Enum(['stdout', 'stderr']),
      line: Type.String({ examples: ['GET /cart 200 12ms'] }),
    }),
    eventOf('LogStateEvent', 'state', 'The containers, whenever one of them has changed.', {
      containers: Type.Array(ContainerAnswer),
    }),
    eventOf('LogProblemEvent', 'problem', 'The server cannot be asked for now; it is tried again.', {
      code: Type.Unsafe<string>(FaultCode),
      message: Type.String(),
      hint: Type.Optional(Type.String()),
    }),
    eventOf('LogEndEvent', 'end', 'The environment is gone; the last event.', {}),
  ],
  { title: 'LogEvent' },
);

const serverFaults = [
  ...(['not_found', 'server_not_ready', 'server_taken', 'host_key_changed'] as const),
  ...(['login_refused', 'sudo_refused'] as const),
  ...(['remote_unreachable', 'remote_timeout', 'remote_failed', 'docker_missing', 'docker_failed'] as const),
];

export function liveRoutes(routes: Routes, logs: LiveLogs): void {
  const route = routes.tagged('Environments');

  route.live('GET', `${base}/:id/logs`, {
    access: ofEnvironment.stream,
    faults: ['not_found', 'rate_limited', 'shutting_down'],
    schema: {
      operationId: 'followLogs',
      summary: 'Follow the lines of the running app',
      description: `New containers are followed as they come. Secrets are shown as \`[secret]\`. At most ${mostViewers} streams of an environment at once.`,
      params: idParams<EnvironmentId>(),
      querystring: LogsQuery,
    },
    events: LogEvent,
    handler: ({ scope, params, query: { tail = usualTail, process } }) =>
      logs.open(scope.workspaceId, params.id, { tail, process }),
  });

  route.get(`${base}/:id/containers`, {
    access: ofEnvironment.read,
    faults: serverFaults,
    schema: {
      operationId: 'listContainers',
      summary: 'Read the state of the app’s containers',
      description: 'As they are on the server at this moment.',
      params: idParams<EnvironmentId>(),
      response: { 200: ContainersAnswer },
    },
    handler: ({ scope, params }) => logs.containers(scope.workspaceId, params.id),
  });
}
