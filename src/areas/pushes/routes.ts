/** The paths of webhooks: where providers call, and where users see what became of it. */

import { actingAs } from '../../events/audit.ts';
import { ofProject, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { ProjectId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { reasons } from './decide.ts';
import { installHook, readHook } from './install-hook.ts';
import type { PushesContext } from './pushes.ts';
import { findReceiver, listWebhookDeliveries, type Receiver, receiveDelivery } from './receive-delivery.ts';
import * as schemas from './schemas.ts';

const base = `${apiPrefix}/projects/:id`;
/** GitHub sends no more than that. */
const mostBytes = 25 * 1024 * 1024;

export function pushRoutes(routes: Routes, ctx: PushesContext): void {
  const route = routes.tagged('Webhooks');
  route.post(`${base}/webhook`, {
    access: ofProject.manage,
    idempotent: true,
    schema: {
      operationId: 'installWebhook',
      summary: 'Have pushes told to us',
      description:
        'Made at the provider where the account’s token may; else paste `address` and `secret` in there, as JSON, for pushes. Asked again, it gets a new secret at the same address. Takes an `Idempotency-Key`; the secret is in the first answer only.',
      params: idParams<ProjectId>(),
      response: { 200: schemas.NewHookAnswer },
    },
    handler: ({ scope, params, saveResponse }) =>
      installHook(ctx, scope.workspaceId, params.id, saveResponse),
  });

  route.get(`${base}/webhook`, {
    access: ofProject.read,
    schema: {
      operationId: 'getWebhook',
      summary: 'The webhook of a project',
      params: idParams<ProjectId>(),
      response: { 200: schemas.HookAnswer },
    },
    handler: ({ scope, params }) => readHook(ctx, scope.workspaceId, params.id),
  });

  route.get(`${base}/webhook-deliveries`, {
    access: ofProject.read,
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'What arrived for a project, and what became of it',
      params: idParams<ProjectId>(),
      querystring: PageQuery,
      response: { 200: schemas.DeliveriesAnswer },
    },
    handler: ({ scope, params, query }) =>
      listWebhookDeliveries(ctx.db, scope.workspaceId, params.id, new Page(query)),
  });

  // Here alone, bodies are bytes, because what is signed is bytes.
  route.encapsulate((server, own) => {
    server.removeAllContentTypeParsers();
    server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    server.decorateRequest('hook', undefined);
    receiveRoute(own, ctx);
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    hook: Receiver | undefined;
  }
}

function receiveRoute(route: Routes, ctx: PushesContext): void {
  route.post(`${apiPrefix}/webhooks/git/:provider/:hookId`, {
    access: { kind: 'public' },
    rawBody: true,
    faults: ['signature_invalid', 'payload_too_large'],
    options: {
      bodyLimit: mostBytes,
      // Before the body is read: only a hook that exists may send us megabytes.
      preParsing: async (request) => {
        const { provider, hookId } = Object(request.params);
        request.hook = await findReceiver(ctx, String(provider), String(hookId));
      },
    },
    schema: {
      operationId: 'receiveWebhook',
      summary: 'For providers: a push',
      description:
        'Signed as the provider signs: `X-Hub-Signature-256` (GitHub), `X-Gitlab-Token`, `X-Gitea-Signature`, `X-Hub-Signature` (Bitbucket). A delivery that is repeated is taken once.',
      params: schemas.HookParams,
      response: { 202: schemas.ReceivedAnswer },
    },
    handler: async ({ params, body, request }) => {
      if (!request.hook || !Buffer.isBuffer(body)) throw new Error('no hook was found before the body');
      const { provider } = params;
      const { hook, headers } = request;
      const received = await actingAs({ kind: 'push', name: provider }, () =>
        receiveDelivery(ctx, hook, provider, headers, body),
      );
      return { outcomes: received.reasons.map((reason) => ({ reason, message: reasons[reason] })) };
    },
  });
}
