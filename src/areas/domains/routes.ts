/** The paths of domains. No rules here: schema, permission, and the use case that does it. */
import Type from 'typebox';
import { principalOf, scopeOf } from '../../http/access.ts';
import type { Idempotency } from '../../http/idempotency.ts';
import { change, manage, read, repeatable } from '../../http/route-config.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { DomainId, EnvironmentDomainId, EnvironmentId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { connectDomain } from './connect-domain.ts';
import type { DomainsContext } from './domains.ts';
import { listDomains, readDomain } from './read-domains.ts';
import { listNamesOf, readName } from './read-names.ts';
import { registerDomain } from './register-domain.ts';
import { disconnectDomain, removeDomain } from './remove-domain.ts';
import * as schemas from './schemas.ts';
import { verifyDomain } from './verify-domain.ts';

const tags = ['Domains'];
const base = `${apiPrefix}/domains`;

export function domainRoutes(app: HttpServer, ctx: DomainsContext, idempotency: Idempotency): void {
  app.post(base, {
    config: { ...change, faults: [...repeatable, 'name_taken', 'domain_taken'] },
    schema: {
      tags,
      operationId: 'registerDomain',
      summary: 'Register a domain',
      description:
        'Put the record of `verification` into its zone, then verify it. The proof of a domain is good for every name below it. Takes an `Idempotency-Key`.',
      body: schemas.RegisterBody,
      response: { 201: schemas.DomainAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      return idempotency.once(request, reply, (remember) =>
        registerDomain(ctx, workspaceId, request.body.hostname, remember),
      );
    },
  });

  app.get(base, {
    config: read,
    schema: {
      tags,
      operationId: 'listDomains',
      summary: 'List your domains',
      querystring: PageQuery,
      response: { 200: schemas.DomainsAnswer },
    },
    handler: (request) => listDomains(ctx.db, scopeOf(request).workspaceId, new Page(request.query)),
  });

  app.get(`${base}/:id`, {
    config: read,
    schema: {
      tags,
      operationId: 'getDomain',
      summary: 'One domain, with what was seen of it last',
      params: IdParams,
      response: { 200: schemas.DomainAnswer },
    },
    handler: (request) => readDomain(ctx.db, scopeOf(request).workspaceId, request.params.id as DomainId),
  });

  app.post(`${base}/:id/verify`, {
    config: { ...change, limit: 'search', faults: ['domain_taken'] },
    schema: {
      tags,
      operationId: 'verifyDomain',
      summary: 'Look at a domain now',
      description:
        'Asks the zone’s own name servers and resolvers, and says in `lastCheck.findings` what they answer: what is missing, wrong, or not known everywhere yet. While it is not verified it is looked at again by itself.',
      params: IdParams,
      response: { 200: schemas.DomainAnswer },
    },
    handler: (request, reply) => {
      const gone = new AbortController();
      // Of the answer: the request is closed as soon as its body has been read.
      reply.raw.once('close', () => gone.abort(new Error('the client has gone')));
      return verifyDomain(ctx, scopeOf(request).workspaceId, request.params.id as DomainId, gone.signal);
    },
  });

  app.delete(`${base}/:id`, {
    config: { ...manage, faults: ['in_use'] },
    schema: {
      tags,
      operationId: 'deleteDomain',
      summary: 'Delete a domain',
      description: 'Refused while names under it lead to environments.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: async (request, reply) => {
      await removeDomain(ctx, scopeOf(request).workspaceId, request.params.id as DomainId);
      return reply.code(204).send(null);
    },
  });

  app.post(`${apiPrefix}/environments/:id/domain`, {
    config: {
      ...change,
      faults: [...repeatable, 'domain_not_verified', 'domain_taken', 'in_use', 'certificate_invalid'],
    },
    schema: {
      tags,
      operationId: 'connectDomain',
      summary: 'Lead a name to an environment, with TLS',
      description:
        'A name that it has already is changed. With `auto` a certificate is asked for at once and renewed 30 days ahead; until there is one, the name is served over http. Takes an `Idempotency-Key`.',
      params: IdParams,
      body: schemas.ConnectBody,
      response: { 200: schemas.ConnectedAnswer, 202: schemas.ConnectedAnswer },
    },
    handler: (request, reply) => {
      const { workspaceId } = scopeOf(request);
      const { accountId } = principalOf(request);
      const id = request.params.id as EnvironmentId;
      return idempotency.once(request, reply, (remember) =>
        connectDomain(ctx, workspaceId, id, accountId, request.body, remember),
      );
    },
  });

  app.get(`${apiPrefix}/environments/:id/domains`, {
    config: read,
    schema: {
      tags,
      operationId: 'listDomainsOfEnvironment',
      summary: 'The names that lead to an environment, with their certificates',
      params: IdParams,
      response: { 200: schemas.NamesAnswer },
    },
    handler: (request) =>
      listNamesOf(ctx.db, scopeOf(request).workspaceId, request.params.id as EnvironmentId),
  });

  app.get(`${apiPrefix}/environments/:id/domains/:domainId`, {
    config: read,
    schema: {
      tags,
      operationId: 'getDomainOfEnvironment',
      summary: 'One name of an environment',
      params: schemas.NameParams,
      response: { 200: schemas.NameAnswer },
    },
    handler: (request) => {
      const { id, domainId } = request.params;
      const { workspaceId } = scopeOf(request);
      return readName(ctx.db, workspaceId, id as EnvironmentId, domainId as EnvironmentDomainId);
    },
  });

  app.delete(`${apiPrefix}/environments/:id/domains/:domainId`, {
    config: change,
    schema: {
      tags,
      operationId: 'disconnectDomain',
      summary: 'Take a name away from an environment',
      description: 'Its certificate is revoked where it came from the authority.',
      params: schemas.NameParams,
      response: { 204: Type.Null({ description: 'Gone.' }) },
    },
    handler: async (request, reply) => {
      const { id, domainId } = request.params;
      const { workspaceId } = scopeOf(request);
      await disconnectDomain(ctx, workspaceId, id as EnvironmentId, domainId as EnvironmentDomainId);
      return reply.code(204).send(null);
    },
  });
}
