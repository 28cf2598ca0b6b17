/** The paths of accounts. No rules here: schema, permission, and the use case that does it. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { principalOf } from '../../http/access.ts';
import { IdParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix, type HttpServer } from '../../http/server.ts';
import type { SessionId } from '../../ids.ts';
import { Page } from '../../page.ts';
import type { AccountsContext, ClientTrace } from './accounts.ts';
import { login } from './login.ts';
import { readUser } from './read-user.ts';
import { register } from './register.ts';
import { forgotPassword, resetPassword } from './reset-password.ts';
import * as schemas from './schemas.ts';
import { endSession, issueStreamTicket, logout, readSessions } from './sessions.ts';
import { refresh, type SignIn } from './sign-in.ts';
import { lifetimes } from './tokens.ts';
import { resendOtp, verifyOtp } from './verify-otp.ts';

const guessable = { access: { kind: 'public' }, signInLimit: true } as const;
const account = { access: { kind: 'account' } } as const;
const tags = ['Accounts'];
const base = `${apiPrefix}/auth`;
const refreshCookie = 'slipway_refresh';

export function accountRoutes(app: HttpServer, context: AccountsContext, secureCookies: () => boolean): void {
  app.post(`${base}/register`, {
    config: { ...guessable, faults: ['registration_closed'] },
    schema: {
      tags,
      operationId: 'register',
      summary: 'Create an account',
      description:
        'Sends a code to the address. An address that has an account gets a mail that says so instead.',
      body: schemas.RegisterBody,
      response: { 201: schemas.RegisterAnswer },
    },
    handler: async (request, reply) => reply.code(201).send(await register(context, request.body)),
  });

  app.post(`${base}/verify-otp`, {
    config: { ...guessable, faults: ['invalid_otp'] },
    schema: {
      tags,
      operationId: 'verifyOtp',
      summary: 'Confirm the address with the code from the mail',
      description: 'Six digits, ten minutes, single use, five tries a code.',
      body: schemas.VerifyOtpBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async (request, reply) => {
      const signIn = await verifyOtp(context, request.body, clientOf(request));
      return signInAnswer(reply, signIn, request.body.refreshTokenIn);
    },
  });

  app.post(`${base}/resend-otp`, {
    config: guessable,
    schema: {
      tags,
      operationId: 'resendOtp',
      summary: 'Ask for a fresh code',
      description: 'Answers the same for every address.',
      body: schemas.EmailBody,
      response: {
        202: Type.Null({ description: 'If someone registered with the address, a code is on its way.' }),
      },
    },
    handler: async (request, reply) => {
      await resendOtp(context, request.body);
      return accepted(reply);
    },
  });

  app.post(`${base}/login`, {
    config: { ...guessable, faults: ['invalid_credentials', 'email_not_verified'] },
    schema: {
      tags,
      operationId: 'login',
      summary: 'Sign in',
      description:
        'Gives an access token of 15 minutes, and a refresh token of 30 days as a cookie or in the body.',
      body: schemas.LoginBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async (request, reply) => {
      const signIn = await login(context, request.body, clientOf(request));
      return signInAnswer(reply, signIn, request.body.refreshTokenIn);
    },
  });

  app.post(`${base}/refresh`, {
    config: { access: { kind: 'public' }, faults: ['invalid_refresh_token'] },
    schema: {
      tags,
      operationId: 'refresh',
      summary: 'Trade the refresh token for a new pair of tokens',
      description: 'Each refresh token works once; one that comes back after it was spent ends its session.',
      body: schemas.RefreshBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async (request, reply) => {
      const inBody = request.body.refreshToken;
      const signIn = await refresh(context, inBody ?? readRefreshCookie(request));
      return signInAnswer(reply, signIn, inBody === undefined ? 'cookie' : 'body');
    },
  });

  app.post(`${base}/logout`, {
    config: account,
    schema: {
      tags,
      operationId: 'logout',
      summary: 'End this session',
      response: { 204: Type.Null({ description: 'Signed out: the access token works no more.' }) },
    },
    handler: async (request, reply) => {
      await logout(context, principalOf(request));
      return setRefreshCookie(reply, '', 0).code(204).send(null);
    },
  });

  app.get(`${base}/me`, {
    config: account,
    schema: { tags, operationId: 'me', summary: 'Your own profile', response: { 200: schemas.UserAnswer } },
    handler: (request) => readUser(context.db, principalOf(request).accountId),
  });

  app.post(`${base}/forgot-password`, {
    config: guessable,
    schema: {
      tags,
      operationId: 'forgotPassword',
      summary: 'Ask for a link to set a new password',
      description: 'Answers the same for every address.',
      body: schemas.EmailBody,
      response: { 202: Type.Null({ description: 'If the address has an account, a link is on its way.' }) },
    },
    handler: async (request, reply) => {
      await forgotPassword(context, request.body);
      return accepted(reply);
    },
  });

  app.post(`${base}/reset-password`, {
    config: { ...guessable, faults: ['invalid_reset_token'] },
    schema: {
      tags,
      operationId: 'resetPassword',
      summary: 'Set a new password with the token from the mail',
      description: 'Ends every session of the account. The token works once, for 30 minutes.',
      body: schemas.ResetPasswordBody,
      response: { 204: Type.Null({ description: 'The password is set, and every session has ended.' }) },
    },
    handler: async (request, reply) => {
      await resetPassword(context, request.body);
      return reply.code(204).send(null);
    },
  });

  app.post(`${base}/stream-ticket`, {
    config: account,
    schema: {
      tags,
      operationId: 'createStreamTicket',
      summary: 'Get a ticket for a stream',
      description: 'For clients that cannot send a header, such as `EventSource`: one use, 30 seconds.',
      response: { 201: schemas.StreamTicketAnswer },
    },
    handler: async (request, reply) =>
      reply.code(201).send(await issueStreamTicket(context, principalOf(request))),
  });

  app.get(`${base}/sessions`, {
    config: account,
    schema: {
      tags,
      operationId: 'listSessions',
      summary: 'List your live sessions',
      querystring: PageQuery,
      response: { 200: schemas.SessionsAnswer },
    },
    handler: (request) => readSessions(context, principalOf(request), new Page(request.query)),
  });

  app.delete(`${base}/sessions/:id`, {
    config: account,
    schema: {
      tags,
      operationId: 'endSession',
      summary: 'End one of your sessions',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The session has ended.' }) },
    },
    handler: async (request, reply) => {
      await endSession(context, principalOf(request), request.params.id as SessionId);
      return reply.code(204).send(null);
    },
  });

  function signInAnswer(
    reply: FastifyReply,
    { refreshToken, ...signIn }: SignIn,
    where: 'cookie' | 'body' = 'cookie',
  ) {
    const answer = { ...signIn, tokenType: 'Bearer' as const };
    if (where === 'body') return { ...answer, refreshToken };
    setRefreshCookie(reply, refreshToken, lifetimes.sessionMs / 1000);
    return answer;
  }

  function setRefreshCookie(reply: FastifyReply, value: string, maxAge: number): FastifyReply {
    const secure = secureCookies();
    const cookie = { name: refreshCookie, value, maxAge, path: base, httpOnly: true, secure } as const;
    return reply.header('set-cookie', stringifySetCookie({ ...cookie, sameSite: 'strict' }));
  }
}

function readRefreshCookie(request: FastifyRequest): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[refreshCookie];
}

/** 202 without a body; `null` would be one. */
function accepted(reply: FastifyReply): FastifyReply {
  return reply
    .code(202)
    .serializer(() => '')
    .send(null);
}

function clientOf(request: FastifyRequest): ClientTrace {
  return { ip: request.ip, userAgent: request.headers['user-agent'] };
}
