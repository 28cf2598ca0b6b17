/** The paths of services. No rules here: schema, permission, and the use case that does it. */
import { principalOf, scopeOf } from '../../http/access.ts';
import { change, read } from '../../http/route-config.ts';
import { IdParams } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { changeServices } from './change-services.ts';
import { listServices } from './list-services.ts';
import * as schemas from './schemas.ts';
import type { ServiceRequestsContext } from './services.ts';

const tags = ['Services'];
const base = `${apiPrefix}/environments/:id/services`;

export function serviceRoutes(app: HttpServer, ctx: ServiceRequestsContext): void {
  app.post(base, {
    config: { ...change, faults: ['service_version_refused'] },
    schema: {
      tags,
      operationId: 'changeServices',
      summary: 'Say which services an environment has',
      description:
        'The wanted whole: what is not named is removed. Its data stays, and is taken up again by a service of the same kind and name, until it is deleted with `deleteData`. A version that could not read the data is refused. Credentials are made by us and given to the application alone: each service has `<NAME>_URL` (`main-db` has `MAIN_DB_URL`) and the names of its kind (`DATABASE_URL`, `POSTGRES_URL`, `MYSQL_URL`, `MARIADB_URL`, `MONGODB_URL`, `MONGO_URL`, `REDIS_URL`), each as far as no service that was made earlier has it. 202 with an operation where the environment stands on a server; otherwise they start with its first deployment.',
      params: IdParams,
      body: schemas.ServicesBody,
      response: { 200: schemas.ChangedAnswer, 202: schemas.ChangedAnswer },
    },
    handler: async (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as EnvironmentId;
      const changed = await changeServices(ctx, workspaceId, accountId, id, request.body);
      if (changed.operationId === null) return reply.code(200).send(changed);
      reply.code(202).header('location', `${apiPrefix}/operations/${changed.operationId}`);
      return reply.send(changed);
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listServices',
      summary: 'The services of an environment',
      description: 'Also those that were removed and whose data is still there: they have `removedAt`.',
      params: IdParams,
      response: { 200: schemas.ServicesAnswer },
    },
    handler: (request) =>
      listServices(ctx.db, scopeOf(request).workspaceId, request.params.id as EnvironmentId),
  });
}
