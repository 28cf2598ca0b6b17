/** The paths of services. No rules here: schema, permission, and the use case that does it. */

import { ofEnvironment, type Routes } from '../../http/routes.ts';
import { idParams } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { EnvironmentId } from '../../ids.ts';
import { changeServices } from './change-services.ts';
import { listServices } from './list-services.ts';
import { readCredentials } from './read-credentials.ts';
import * as schemas from './schemas.ts';
import type { ServiceTunnels } from './service-tunnels.ts';
import type { ServiceRequestsContext } from './services.ts';

const base = `${apiPrefix}/environments/:id/services`;

export function serviceRoutes(routes: Routes, ctx: ServiceRequestsContext, tunnels: ServiceTunnels): void {
  const route = routes.tagged('Services');
  route.post(base, {
    access: ofEnvironment.change,
    idempotent: true,
    faults: ['service_version_refused', 'removal_unconfirmed'],
    schema: {
      operationId: 'setServices',
      summary: 'Say which services an environment has',
      description:
        'The wanted whole. A service that is there and not in it has to be named in `remove`, or nothing is changed. Its data stays, and is taken up again by a service of the same kind and name, until it is deleted with `deleteData`. A version that could not read the data is refused. Credentials are made by us and given to the application alone: each service has `<NAME>_URL` (`main-db` has `MAIN_DB_URL`) and the names of its kind (`DATABASE_URL`, `POSTGRES_URL`, `MYSQL_URL`, `MARIADB_URL`, `MONGODB_URL`, `MONGO_URL`, `REDIS_URL`), each as far as no service that was made earlier has it. 202 with an operation where the environment stands on a server; otherwise they start with its first deployment. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      body: schemas.ServicesBody,
      response: { 200: schemas.ChangedAnswer, 202: schemas.ChangedAnswer },
    },
    handler: ({ scope, principal, params, body, saveResponse }) =>
      changeServices(ctx, scope.workspaceId, principal.accountId, params.id, body, saveResponse),
  });

  route.get(base, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'listServices',
      summary: 'The services of an environment',
      description: 'Also those that were removed and whose data is still there: they have `removedAt`.',
      params: idParams<EnvironmentId>(),
      response: { 200: schemas.ServicesAnswer },
    },
    handler: ({ scope, params }) => listServices(ctx.db, scope.workspaceId, params.id),
  });

  const params = schemas.ServiceParams;
  route.get(`${base}/:sid/credentials`, {
    access: ofEnvironment.readSecrets,
    faults: ['server_not_linked'],
    schema: {
      operationId: 'getServiceCredentials',
      summary: 'Read how the application reaches a service',
      description: `Its URL, with user and password; each reading is in the audit log. The host in it is one of the environment’s network alone: \`GET ${base}/:sid/tunnel\` with \`Upgrade: tcp\` becomes a connection to it, and \`slipway connect\` opens a database so.`,
      params,
      response: { 200: schemas.CredentialsAnswer },
    },
    handler: ({ scope, params: { id, sid } }) => readCredentials(ctx, scope.workspaceId, id, sid),
  });

  route.tunnel(`${base}/:sid/tunnel`, {
    access: ofEnvironment.readSecrets,
    schema: { operationId: 'openServiceTunnel', params },
    handler: ({ scope, params: { id, sid }, signal }) => tunnels.open(scope.workspaceId, id, sid, signal),
  });
}
