/** The paths of what runs now: the app's lines as they come, and its containers. */
import Type from 'typebox';
import { principalOf, scopeOf } from '../../http/access.ts';
import { sendLive } from '../../http/live.ts';
import { read, stream } from '../../http/route-config.ts';
import { closed, Id, IdParams, nullable, streamAnswer, Time } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import type { Sessions } from '../../principal.ts';
import { LiveLogs, type LiveLogsContext, mostViewers } from './live-logs.ts';
import { mostTail } from './live-watch.ts';

export interface LiveRoutesContext extends LiveLogsContext {
  /** Asked again and again: a stream may outlive the session that opened it. */
  readonly sessions: Pick<Sessions, 'bySessions'>;
}

const tags = ['Environments'];
const base = `${apiPrefix}/environments`;
const usualTail = 100;
const checkSessionMs = 15_000;
/** What may wait in our memory for one slow reader; then it is cut. */
const mostWaitingBytes = 1024 * 1024;

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

const serverFaults = [
  ...(['not_found', 'server_not_ready', 'host_key_changed', 'login_refused', 'sudo_refused'] as const),
  ...(['remote_unreachable', 'remote_timeout', 'remote_failed', 'docker_missing', 'docker_failed'] as const),
];

/** What it gives back ends the open streams. */
export function liveRoutes(server: HttpServer, ctx: LiveRoutesContext): LiveLogs {
  const logs = new LiveLogs(ctx);

  server.get(`${base}/:id/logs`, {
    config: { ...stream, faults: ['not_found', 'rate_limited', 'shutting_down'] },
    schema: {
      tags,
      operationId: 'followLogs',
      summary: 'Follow the lines of the running app',
      description: `Events \`line\` with \`{container, process, replica, stream, at, line}\`, \`state\` with \`{containers}\` whenever one of them changed, and \`problem\` with \`{code, message, hint?}\` while the server cannot be asked; it is tried again. New containers are followed as they come. Secrets are shown as \`[secret]\`. At most ${mostViewers} streams of an environment at once.`,
      params: IdParams,
      querystring: LogsQuery,
      response: { 200: streamAnswer('The lines, as they come.') },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { sessionId } = principalOf(request);
      const { tail = usualTail, process } = request.query;
      const follow = await logs.open(workspaceId, request.params.id as EnvironmentId, { tail, process });
      return sendLive(request, reply, async (send, gone) => {
        const ended = new AbortController();
        const check = async () => {
          const principal = (await ctx.sessions.bySessions([sessionId])).get(sessionId);
          if (!principal?.memberships.some(({ id }) => id === workspaceId)) ended.abort();
        };
        const timer = setInterval(() => {
          check().catch((error: unknown) => {
            // Who may still read cannot be known now: fail closed. The reader comes back.
            request.log.warn({ err: error }, 'could not check the session of a stream');
            ended.abort();
          });
        }, checkSessionMs);
        const sendBounded = (kind: string, data: object) => {
          send(kind, data);
          if (reply.raw.writableLength > mostWaitingBytes) reply.raw.destroy();
        };
        try {
          await follow(sendBounded, AbortSignal.any([gone, ended.signal]));
        } finally {
          clearInterval(timer);
        }
      });
    },
  });

  server.get(`${base}/:id/containers`, {
    config: { ...read, faults: serverFaults },
    schema: {
      tags,
      operationId: 'readContainers',
      summary: 'Read the state of the app’s containers',
      description: 'As they are on the server at this moment.',
      params: IdParams,
      response: { 200: ContainersAnswer },
    },
    handler: (request) => logs.containers(scopeOf(request).workspaceId, request.params.id as EnvironmentId),
  });

  return logs;
}
