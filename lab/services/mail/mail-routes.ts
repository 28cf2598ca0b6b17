/** The mail server by HTTP: what has come, what comes next, and whom to refuse. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { addRoutes, InputError, parse } from '../control/input.ts';
import { waitRoute } from '../control/wait-route.ts';
import type { LabMail } from './mail.ts';

const closed = { additionalProperties: false };
const To = Type.Object({ to: Type.Optional(Type.String()) }, closed);
const Next = Type.Object(
  { to: Type.Optional(Type.String()), timeoutMs: Type.Optional(Type.String()) },
  closed,
);
const Id = Type.Object({ id: Type.String() });
const Reply = Type.Object({ code: Type.Integer(), message: Type.String() }, closed);
const RecipientFault = Type.Object(
  { recipient: Type.String(), reply: Type.Union([Reply, Type.Null()]) },
  closed,
);

export function mailRoutes(app: FastifyInstance, mail: LabMail): void {
  addRoutes(app, (scope) => {
    const wait = waitRoute(scope);

    scope.get('/mail', ({ query }) => {
      const { to } = parse(To, query, 'GET /mail?to=ada@lab.test');
      return { messages: mail.messages(to), faults: mail.faults(), problems: mail.problems() };
    });

    scope.get('/mail/next', ({ query }, reply) => {
      const { to, timeoutMs } = parse(Next, query, 'GET /mail/next?to=ada@lab.test&timeoutMs=5000');
      const wanted = to === undefined ? 'mail' : `mail to ${to}`;
      return wait(reply, { timeoutMs, wanted, next: (limit, stop) => mail.next(to, limit, stop) });
    });

    scope.get('/mail/:id', ({ params }) => {
      const { id } = parse(Id, params, 'GET /mail/1');
      const message = mail.message(id);
      if (message) return message;
      throw new InputError(`There is no mail ${id}; GET /mail lists those there are.`, 404);
    });

    scope.delete('/mail', (_request, reply) => {
      mail.clear();
      reply.code(204).send();
    });

    scope.put('/mail/faults', ({ body }) => {
      const example = { recipient: 'ada@lab.test', reply: { code: 550, message: 'No such mailbox' } };
      const { recipient, reply } = parse(RecipientFault, body, example);
      mail.fail(recipient, reply ?? undefined);
      return { faults: mail.faults() };
    });
  });
}
