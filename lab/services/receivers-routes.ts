/** The receivers by HTTP: what they took, what comes next, and what to answer instead. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addRoutes, parse } from './control/input.ts';
import { waitRoute } from './control/wait-route.ts';
import type { LabReceivers } from './receivers.ts';

const closed = { additionalProperties: false };
const Name = Type.Optional(Type.Enum(['discord', 'telegram', 'teams']));
const Named = Type.Object({ receiver: Name }, closed);
const Next = Type.Object({ receiver: Name, timeoutMs: Type.Optional(Type.String()) }, closed);
const OnePath = Type.Object({ path: Type.String() }, closed);
const PathAnswer = Type.Object(
  {
    path: Type.String(),
    status: Type.Optional(Type.Integer()),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(Type.String()),
    delayMs: Type.Optional(Type.Integer()),
    times: Type.Optional(Type.Integer()),
    hangUp: Type.Optional(Type.Boolean()),
  },
  closed,
);

export function receiverRoutes(app: FastifyInstance, receivers: LabReceivers): void {
  addRoutes(app, (scope) => {
    const wait = waitRoute(scope);

    scope.get('/receivers', ({ query }) => {
      const { receiver } = parse(Named, query, 'GET /receivers?receiver=discord');
      return { messages: receivers.messages(receiver), answers: receivers.answers() };
    });

    scope.get('/receivers/next', ({ query }, reply) => {
      const { receiver, timeoutMs } = parse(Next, query, 'GET /receivers/next?receiver=teams&timeoutMs=5000');
      const wanted = receiver === undefined ? 'message' : `message to ${receiver}`;
      return wait(reply, { timeoutMs, wanted, next: (limit, stop) => receivers.next(receiver, limit, stop) });
    });

    scope.delete('/receivers', (_request, reply) => {
      receivers.clear();
      reply.code(204).send();
    });

    scope.put('/receivers/answers', ({ body }) => {
      const example = { path: '/api/webhooks/100000000000000001/lab-discord-token', status: 503, times: 2 };
      const { path, ...answer } = parse(PathAnswer, body, example);
      receivers.answer(path, answer);
      return { answers: receivers.answers() };
    });

    scope.delete('/receivers/answers', ({ query }) => {
      const { path } = parse(OnePath, query, 'DELETE /receivers/answers?path=/workflows/lab');
      receivers.answer(path, undefined);
      return { answers: receivers.answers() };
    });
  });
}
