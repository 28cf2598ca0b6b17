/** The paths of sign-in by OpenID Connect. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Cookie, readCookie, setCookie } from '../../../http/cookies.ts';
import type { Routes } from '../../../http/routes.ts';
import { apiPrefix } from '../../../http/server.ts';
import { clientOf, isHalf, keepChallenge, keepSignIn } from '../routes.ts';
import { sessionOf } from '../sessions.ts';
import { beginOidc } from './begin-oidc.ts';
import { sendFailure } from './failure-page.ts';
import { finishOidc } from './finish-oidc.ts';
import { readLink, unlinkAccount } from './link-oidc.ts';
import { attemptMs, callbackPath, type OidcContext } from './oidc.ts';
import * as schemas from './schemas.ts';

const open = { kind: 'public' } as const;
const account = { kind: 'account' } as const;
const base = `${apiPrefix}/auth/oidc`;
// The provider sends the browser back: a strict cookie would not come along.
const attemptCookie: Cookie = { name: 'slipway_oidc', path: base, sameSite: 'lax' };

export function oidcRoutes(routes: Routes, ctx: OidcContext, isSecure: () => boolean): void {
  const keep = (reply: FastifyReply, { url, token }: { readonly url: string; readonly token: string }) => {
    setCookie(reply, attemptCookie, { value: token, maxAgeMs: attemptMs }, isSecure());
    return url;
  };
  // Under the plain name, over https, any host of the domain can have put one there: it would be a sign-in of theirs.
  const tokenOf = (request: FastifyRequest) => {
    const cookie = readCookie(request, attemptCookie, isSecure());
    return cookie?.own ? cookie.value : undefined;
  };

  const route = routes.tagged('Accounts');
  route.get(base, {
    access: open,
    schema: {
      operationId: 'getOidc',
      summary: 'Whether people can sign in by OpenID Connect, and what that is called',
      response: { 200: schemas.OidcAnswer },
    },
    handler: () => ({ enabled: ctx.oidc !== undefined, name: ctx.oidc?.config.name ?? null }),
  });

  // Where a browser goes and comes back to: no calls, and not in the document.
  route.encapsulate((server) => {
    server.setErrorHandler(sendFailure);
    const config = { access: open, signInLimit: 'guess' } as const;
    server.get<{ Querystring: Type.Static<typeof schemas.BeginQuery> }>(
      `${base}/begin`,
      { config, schema: { hide: true, querystring: schemas.BeginQuery } },
      async ({ query }, reply) => reply.redirect(keep(reply, await beginOidc(ctx, query)), 303),
    );
    server.get(
      callbackPath,
      { config, schema: { hide: true, querystring: schemas.CallbackQuery } },
      async (request, reply) => {
        const cameBackTo = new URL(`${ctx.publicUrl()}${callbackPath}`);
        cameBackTo.search = new URL(request.url, cameBackTo).search;
        const { signIn, returnTo } = await finishOidc(ctx, tokenOf(request), cameBackTo, clientOf(request));
        setCookie(reply, attemptCookie, { value: '', maxAgeMs: 0 }, isSecure());
        if (signIn && isHalf(signIn)) {
          keepChallenge(reply, signIn.secondFactor, isSecure());
          const then = new URLSearchParams({ secondFactor: 'needed', returnTo });
          return reply.redirect(`${ctx.publicUrl()}/sign-in?${then}`, 303);
        }
        if (signIn) keepSignIn(reply, signIn, isSecure());
        return reply.redirect(`${ctx.publicUrl()}${returnTo}`, 303);
      },
    );
  });

  route.post(`${base}/begin`, {
    access: open,
    signInLimit: 'guess',
    faults: ['not_found', 'oidc_failed'],
    schema: {
      operationId: 'startOidc',
      summary: 'Begin to sign in at the provider',
      description:
        'Gives the address to send the browser to, and a cookie that it must come back with. A link to `GET /api/v1/auth/oidc/begin?returnTo=/` does the same and goes there. Whoever comes back is signed in as by `POST /auth/login`, with the refresh token as a cookie; `POST /auth/refresh` gives an access token. Where the account has a second factor, the browser is sent to `/sign-in?secondFactor=needed` instead, and `GET /auth/login/second-factor` gives the challenge.',
      body: schemas.BeginBody,
      response: { 200: schemas.AddressAnswer },
    },
    handler: async ({ body, reply }) => ({ url: keep(reply, await beginOidc(ctx, body)) }),
  });

  route.get(`${base}/link`, {
    access: account,
    schema: {
      operationId: 'getOidcLink',
      summary: 'Whom your account is linked with at the provider',
      response: { 200: schemas.LinkAnswer },
    },
    handler: ({ principal }) => readLink(ctx, principal.accountId),
  });

  route.post(`${base}/link`, {
    access: { ...account, fresh: true },
    signInLimit: 'guess',
    faults: ['not_found', 'oidc_failed'],
    schema: {
      operationId: 'startOidcLink',
      summary: 'Begin to link your account with the provider',
      description:
        'Send the browser to `url`; when it is back, your account can be signed in to that way, too. An account is linked by its owner alone, never because an address is the same.',
      body: schemas.LinkBody,
      response: { 200: schemas.AddressAnswer },
    },
    handler: async ({ principal, body, reply }) => {
      const sessionId = sessionOf(principal);
      return { url: keep(reply, await beginOidc(ctx, body, { purpose: 'link', sessionId })) };
    },
  });

  route.delete(`${base}/link`, {
    access: { ...account, fresh: true },
    faults: ['not_found', 'last_way_in'],
    schema: {
      operationId: 'deleteOidcLink',
      summary: 'Unlink your account from the provider',
      description:
        'Roles that groups at the provider gave you go with it. Refused while your account has no password.',
      response: { 204: Type.Null({ description: 'Unlinked.' }) },
    },
    handler: ({ principal, request }) => unlinkAccount(ctx, principal.accountId, clientOf(request)),
  });

  route.post(`${base}/confirm`, {
    access: account,
    signInLimit: 'guess',
    faults: ['not_found', 'oidc_failed'],
    schema: {
      operationId: 'startOidcConfirm',
      summary: 'Begin to prove again that it is you, at the provider',
      description:
        'What `POST /auth/confirm` does with a password: the provider is asked to have you sign in anew, and has to say when you did. Refused where the account has a second factor that the provider did not ask for: that is the proof. Send the browser to `url`.',
      body: schemas.LinkBody,
      response: { 200: schemas.AddressAnswer },
    },
    handler: async ({ principal, body, reply }) => {
      const sessionId = sessionOf(principal);
      return { url: keep(reply, await beginOidc(ctx, body, { purpose: 'confirm', sessionId })) };
    },
  });
}
