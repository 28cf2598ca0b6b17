/** The paths of domains. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { change, manage, ofEnvironment, type Routes, read } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { DomainId, EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { connectDomain } from './connect-domain.ts';
import type { DomainsContext } from './domains.ts';
import { listDomains, readDomain } from './read-domains.ts';
import { listNamesOf, readName } from './read-names.ts';
import { registerDomain } from './register-domain.ts';
import { disconnectDomain, removeDomain } from './remove-domain.ts';
import * as schemas from './schemas.ts';
import { verifyDomain } from './verify-domain.ts';

const base = `${apiPrefix}/domains`;

export function domainRoutes(routes: Routes, ctx: DomainsContext): void {
  const route = routes.tagged('Domains');
  route.post(base, {
    access: change,
    idempotent: true,
    faults: ['name_taken', 'domain_taken'],
    schema: {
      operationId: 'registerDomain',
      summary: 'Register a domain',
      description:
        'Put the record of `verification` into its zone, then verify it. The proof of a domain is good for every name below it. Takes an `Idempotency-Key`.',
      body: schemas.RegisterBody,
      response: { 201: schemas.DomainAnswer },
    },
    handler: ({ scope, body, saveResponse }) =>
      registerDomain(ctx, scope.workspaceId, body.hostname, saveResponse),
  });

  route.get(base, {
    access: read,
    schema: {
      operationId: 'listDomains',
      summary: 'List your domains',
      querystring: PageQuery,
      response: { 200: schemas.DomainsAnswer },
    },
    handler: ({ scope, query }) => listDomains(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.get(`${base}/:id`, {
    access: read,
    schema: {
      operationId: 'getDomain',
      summary: 'One domain, with what was seen of it last',
      params: idParams<DomainId>(),
      response: { 200: schemas.DomainAnswer },
    },
    handler: ({ scope, params }) => readDomain(ctx.db, scope.workspaceId, params.id),
  });

  route.post(`${base}/:id/verify`, {
    access: change,
    limit: 'search',
    faults: ['domain_taken'],
    schema: {
      operationId: 'verifyDomain',
      summary: 'Look at a domain now',
      description:
        'Asks the zone’s own name servers and resolvers, and says in `lastCheck.findings` what they answer: what is missing, wrong, or not known everywhere yet. While it is not verified it is looked at again by itself.',
      params: idParams<DomainId>(),
      response: { 200: schemas.DomainAnswer },
    },
    handler: ({ scope, params, signal }) => verifyDomain(ctx, scope.workspaceId, params.id, signal),
  });

  route.delete(`${base}/:id`, {
    access: manage,
    faults: ['in_use'],
    schema: {
      operationId: 'deleteDomain',
      summary: 'Delete a domain',
      description: 'Refused while names under it lead to environments.',
      params: idParams<DomainId>(),
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: ({ scope, params }) => removeDomain(ctx, scope.workspaceId, params.id),
  });

  route.post(`${apiPrefix}/environments/:id/domain`, {
    access: ofEnvironment.change,
    idempotent: true,
    limit: 'search',
    faults: ['domain_not_verified', 'domain_taken', 'dns_wrong', 'in_use', 'certificate_invalid'],
    schema: {
      operationId: 'connectDomain',
      summary: 'Lead a name to an environment, with TLS',
      description:
        'A name that it has already is changed. With `auto` a certificate is asked for at once and renewed 30 days ahead; until there is one, the name is served over http. Where the environment stands on a server, a new name whose DNS is wrong is refused with `dns_wrong` and what was found; with `force` it is connected all the same, and its certificate is tried for until DNS is right. Takes an `Idempotency-Key`.',
      params: idParams<EnvironmentId>(),
      querystring: schemas.ConnectQuery,
      body: schemas.ConnectBody,
      response: { 200: schemas.ConnectedAnswer, 202: schemas.ConnectedAnswer },
    },
    handler: ({ scope, principal, params, query: { force }, body, signal, saveResponse }) =>
      connectDomain(
        ctx,
        scope.workspaceId,
        params.id,
        principal.accountId,
        body,
        { force, signal },
        saveResponse,
      ),
  });

  route.get(`${apiPrefix}/environments/:id/domains`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'listEnvironmentDomains',
      summary: 'The names that lead to an environment, with their certificates',
      params: idParams<EnvironmentId>(),
      response: { 200: schemas.NamesAnswer },
    },
    handler: ({ scope, params }) => listNamesOf(ctx.db, scope.workspaceId, params.id),
  });

  route.get(`${apiPrefix}/environments/:id/domains/:domainId`, {
    access: ofEnvironment.read,
    schema: {
      operationId: 'getEnvironmentDomain',
      summary: 'One name of an environment',
      params: schemas.NameParams,
      response: { 200: schemas.NameAnswer },
    },
    handler: ({ scope, params }) => readName(ctx.db, scope.workspaceId, params.id, params.domainId),
  });

  route.delete(`${apiPrefix}/environments/:id/domains/:domainId`, {
    access: ofEnvironment.change,
    schema: {
      operationId: 'disconnectDomain',
      summary: 'Take a name away from an environment',
      description: 'Its certificate is revoked where it came from the authority.',
      params: schemas.NameParams,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: ({ scope, params }) => disconnectDomain(ctx, scope.workspaceId, params.id, params.domainId),
  });
}
