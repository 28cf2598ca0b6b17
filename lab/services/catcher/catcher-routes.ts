/** The catcher by HTTP: what was caught, what comes next, and what to answer. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addRoutes, parse } from '../control/input.ts';
import { waitRoute } from '../control/wait-route.ts';
import type { LabCatcher } from './catcher.ts';

const closed = { additionalProperties: false };
const Path = Type.Object({ path: Type.Optional(Type.String()) }, closed);
const OnePath = Type.Object({ path: Type.String() }, closed);
const Next = Type.Object(
  { path: Type.Optional(Type.String()), timeoutMs: Type.Optional(Type.String()) },
  closed,
);
const PathAnswer = Type.Object(
  {
    path: Type.String(),
    status: Type.Optional(Type.Integer()),
    headers: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
    ),
    body: Type.Optional(Type.String()),
    delayMs: Type.Optional(Type.Integer()),
    times: Type.Optional(Type.Integer()),
    hangUp: Type.Optional(Type.Boolean()),
  },
  closed,
);

export function catcherRoutes(app: FastifyInstance, catcher: LabCatcher): void {
  addRoutes(app, (scope) => {
    const wait = waitRoute(scope);

    scope.get('/requests', ({ query }) => {
      const { path } = parse(Path, query, 'GET /requests?path=/hooks/deploy');
      return { requests: catcher.requests(path), answers: catcher.answers() };
    });

    scope.get('/requests/next', ({ query }, reply) => {
      const { path, timeoutMs } = parse(Next, query, 'GET /requests/next?path=/hooks/deploy&timeoutMs=5000');
      const wanted = path === undefined ? 'request' : `request to ${path}`;
      return wait(reply, { timeoutMs, wanted, next: (limit, stop) => catcher.next(path, limit, stop) });
    });

    scope.delete('/requests', (_request, reply) => {
      catcher.clear();
      reply.code(204).send();
    });

    scope.put('/requests/answers', ({ body }) => {
      const example = { path: '/hooks/deploy', status: 503, body: 'later', times: 2 };
      const { path, ...answer } = parse(PathAnswer, body, example);
      catcher.answer(path, answer);
      return { answers: catcher.answers() };
    });

    scope.delete('/requests/answers', ({ query }) => {
      const { path } = parse(OnePath, query, 'DELETE /requests/answers?path=/hooks/deploy');
      catcher.answer(path, undefined);
      return { answers: catcher.answers() };
    });
  });
}
