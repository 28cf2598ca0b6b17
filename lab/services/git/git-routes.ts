/** The host's control as HTTP, for whoever is inside the lab. Never served where the API itself is. */
import type { FastifyInstance } from 'fastify';
import Type, { type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { GitHost } from './git-host.ts';
import { Refusal } from './registry.ts';

const text = Type.String({ minLength: 1 });
const closed = { additionalProperties: false };

const Account = Type.Object(
  { login: text, name: Type.Optional(Type.String()), kind: Type.Enum(['user', 'org']) },
  closed,
);
const Token = Type.Object({ login: text, scopes: Type.Array(text), token: Type.Optional(text) }, closed);
const Member = Type.Object({ org: text, login: text }, closed);
const Repository = Type.Object(
  {
    owner: text,
    name: text,
    private: Type.Optional(Type.Boolean()),
    from: Type.Optional(text),
    defaultBranch: Type.Optional(text),
  },
  closed,
);
const Commit = Type.Object(
  {
    branch: text,
    message: text,
    files: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()])),
    author: Type.Optional(Type.Object({ name: text, email: text, date: Type.Optional(text) }, closed)),
    login: Type.Optional(text),
  },
  closed,
);
const Protection = Type.Object({ branch: text, protected: Type.Boolean() }, closed);
const count = Type.Integer({ minimum: 0 });
const RateLimit = Type.Object(
  { token: text, limit: count, remaining: count, secondarySeconds: Type.Optional(count) },
  closed,
);
const Fault = Type.Object(
  {
    pathPrefix: Type.String({ pattern: '^/' }),
    status: Type.Union([Type.Integer({ minimum: 400, maximum: 599 }), Type.Null()]),
    delayMs: Type.Optional(count),
  },
  closed,
);

interface RepositoryPath {
  Params: { owner: string; name: string };
}

export function gitRoutes(app: FastifyInstance, host: GitHost): void {
  app.post('/git/accounts', async (request, reply) => {
    reply.code(201);
    return host.createAccount(checked(Account, request.body));
  });

  app.post('/git/tokens', async (request, reply) => {
    reply.code(201);
    return host.createToken(checked(Token, request.body));
  });

  app.delete<{ Params: { token: string } }>('/git/tokens/:token', async (request, reply) => {
    host.revokeToken(request.params.token);
    return reply.code(204).send();
  });

  app.post('/git/members', async (request, reply) => {
    host.addMember(checked(Member, request.body));
    return reply.code(204).send();
  });

  app.post('/git/repositories', async (request, reply) => {
    reply.code(201);
    return host.createRepository(checked(Repository, request.body));
  });

  app.post<RepositoryPath>('/git/repositories/:owner/:name/commits', async (request, reply) => {
    reply.code(201);
    return host.commit(request.params.owner, request.params.name, checked(Commit, request.body));
  });

  app.put<RepositoryPath>('/git/repositories/:owner/:name/protection', async (request, reply) => {
    host.protect(request.params.owner, request.params.name, checked(Protection, request.body));
    return reply.code(204).send();
  });

  app.put('/git/rate-limit', async (request, reply) => {
    host.setRateLimit(checked(RateLimit, request.body));
    return reply.code(204).send();
  });

  app.put('/git/faults', async (request, reply) => {
    host.setFault(checked(Fault, request.body));
    return reply.code(204).send();
  });
}

/** Not the server's own validation: that one may turn the `null` that deletes a file into an empty text. */
function checked<T extends TSchema>(schema: T, body: unknown): Static<T> {
  if (Value.Check(schema, body)) return body;
  const [error] = Value.Errors(schema, body);
  throw new Refusal(`The body is not right: ${error?.instancePath || '/'} ${error?.message}.`, 400);
}
