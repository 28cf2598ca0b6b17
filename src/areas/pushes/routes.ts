/** The paths of webhooks: where providers call, and where users see what became of it. */
import { scopeOf } from '../../http/access.ts';
import { manage, read } from '../../http/route-config.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { HookId, ProjectId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { reasons } from './decide.ts';
import { installHook, readHook } from './install-hook.ts';
import { listDeliveries } from './list-deliveries.ts';
import type { PushesContext } from './pushes.ts';
import { findReceiver, type Receiver, receiveDelivery } from './receive-delivery.ts';
import * as schemas from './schemas.ts';

const tags = ['Webhooks'];
const base = `${apiPrefix}/projects/:id`;
/** GitHub sends no more than that. */
const mostBytes = 25 * 1024 * 1024;

export function pushRoutes(app: HttpServer, ctx: PushesContext): void {
  app.post(`${base}/webhook`, {
    config: manage,
    schema: {
      tags,
      operationId: 'installWebhook',
      summary: 'Have pushes told to us',
      description:
        'Made at the provider where the account’s token may; else paste `address` and `secret` in there, as JSON, for pushes. Asked again, it gets a new secret at the same address.',
      params: IdParams,
      response: { 200: schemas.NewHookAnswer },
    },
    handler: (request) => installHook(ctx, scopeOf(request).workspaceId, request.params.id as ProjectId),
  });

  app.get(`${base}/webhook`, {
    config: read,
    schema: {
      tags,
      operationId: 'getWebhook',
      summary: 'The webhook of a project',
      params: IdParams,
      response: { 200: schemas.HookAnswer },
    },
    handler: (request) => readHook(ctx, scopeOf(request).workspaceId, request.params.id as ProjectId),
  });

  app.get(`${base}/webhook-deliveries`, {
    config: read,
    schema: {
      tags,
      operationId: 'listWebhookDeliveries',
      summary: 'What arrived for a project, and what became of it',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: schemas.DeliveriesAnswer },
    },
    handler: (request) => {
      const { workspaceId } = scopeOf(request);
      return listDeliveries(ctx.db, workspaceId, request.params.id as ProjectId, new Page(request.query));
    },
  });

  // A context of its own: here alone, bodies are bytes, because what is signed is bytes.
  void app.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    raw.decorateRequest('hook', undefined);
    receiveRoute(raw, ctx);
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    hook: Receiver | undefined;
  }
}

function receiveRoute(app: HttpServer, ctx: PushesContext): void {
  app.post(`${apiPrefix}/webhooks/git/:provider/:hookId`, {
    config: { access: { kind: 'public' }, rawBody: true, faults: ['signature_invalid', 'payload_too_large'] },
    bodyLimit: mostBytes,
    schema: {
      tags,
      operationId: 'receiveWebhook',
      summary: 'For providers: a push',
      description:
        'Signed as the provider signs: `X-Hub-Signature-256` (GitHub), `X-Gitlab-Token`, `X-Gitea-Signature`, `X-Hub-Signature` (Bitbucket). A delivery that is repeated is taken once.',
      params: schemas.HookParams,
      response: { 202: schemas.ReceivedAnswer },
    },
    // Before the body is read: only a hook that exists may send us megabytes.
    preParsing: async (request) => {
      const { provider, hookId } = request.params;
      request.hook = await findReceiver(ctx, provider, hookId as HookId);
    },
    handler: async (request, reply) => {
      if (!request.hook || !Buffer.isBuffer(request.body))
        throw new Error('no hook was found before the body');
      const { provider } = request.params;
      const received = await receiveDelivery(ctx, request.hook, provider, request.headers, request.body);
      return reply.code(202).send({
        outcomes: received.reasons.map((reason) => ({ reason, message: reasons[reason] })),
      });
    },
  });
}
