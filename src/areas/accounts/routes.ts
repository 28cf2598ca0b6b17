/** The paths of accounts. No rules here: schema, permission, and the use case that does it. */
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Routes } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
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

const open = { kind: 'public' } as const;
const account = { kind: 'account' } as const;
const base = `${apiPrefix}/auth`;
const refreshCookie = 'slipway_refresh';

export function accountRoutes(routes: Routes, context: AccountsContext, secureCookies: () => boolean): void {
  const route = routes.tagged('Accounts');
  route.post(`${base}/register`, {
    access: open,
    signInLimit: true,
    faults: ['registration_closed'],
    schema: {
      operationId: 'register',
      summary: 'Create an account',
      description:
        'Sends a code to the address. An address that has an account gets a mail that says so instead.',
      body: schemas.RegisterBody,
      response: { 201: schemas.RegisterAnswer },
    },
    handler: ({ body }) => register(context, body),
  });

  route.post(`${base}/verify-otp`, {
    access: open,
    signInLimit: true,
    faults: ['invalid_otp'],
    schema: {
      operationId: 'verifyOtp',
      summary: 'Confirm the address with the code from the mail',
      description: 'Six digits, ten minutes, single use, five tries a code.',
      body: schemas.VerifyOtpBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const signIn = await verifyOtp(context, body, clientOf(request));
      return signInAnswer(reply, signIn, body.refreshTokenIn);
    },
  });

  route.post(`${base}/resend-otp`, {
    access: open,
    signInLimit: true,
    schema: {
      operationId: 'resendOtp',
      summary: 'Ask for a fresh code',
      description: 'Answers the same for every address.',
      body: schemas.EmailBody,
      response: {
        202: Type.Null({ description: 'If someone registered with the address, a code is on its way.' }),
      },
    },
    handler: ({ body }) => resendOtp(context, body),
  });

  route.post(`${base}/login`, {
    access: open,
    signInLimit: true,
    faults: ['invalid_credentials', 'email_not_verified'],
    schema: {
      operationId: 'login',
      summary: 'Sign in',
      description:
        'Gives an access token of 15 minutes, and a refresh token of 30 days as a cookie or in the body.',
      body: schemas.LoginBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const signIn = await login(context, body, clientOf(request));
      return signInAnswer(reply, signIn, body.refreshTokenIn);
    },
  });

  route.post(`${base}/refresh`, {
    access: open,
    faults: ['invalid_refresh_token'],
    schema: {
      operationId: 'refresh',
      summary: 'Trade the refresh token for a new pair of tokens',
      description: 'Each refresh token works once; one that comes back after it was spent ends its session.',
      body: schemas.RefreshBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const inBody = body.refreshToken;
      const signIn = await refresh(context, inBody ?? readRefreshCookie(request));
      return signInAnswer(reply, signIn, inBody === undefined ? 'cookie' : 'body');
    },
  });

  route.post(`${base}/logout`, {
    access: account,
    schema: {
      operationId: 'logout',
      summary: 'End this session',
      response: { 204: Type.Null({ description: 'Signed out: the access token works no more.' }) },
    },
    handler: async ({ principal, reply }) => {
      await logout(context, principal);
      setRefreshCookie(reply, '', 0);
    },
  });

  route.get(`${base}/me`, {
    access: account,
    schema: { operationId: 'me', summary: 'Your own profile', response: { 200: schemas.UserAnswer } },
    handler: ({ principal }) => readUser(context.db, principal.accountId),
  });

  route.post(`${base}/forgot-password`, {
    access: open,
    signInLimit: true,
    schema: {
      operationId: 'forgotPassword',
      summary: 'Ask for a link to set a new password',
      description: 'Answers the same for every address.',
      body: schemas.EmailBody,
      response: { 202: Type.Null({ description: 'If the address has an account, a link is on its way.' }) },
    },
    handler: ({ body }) => forgotPassword(context, body),
  });

  route.post(`${base}/reset-password`, {
    access: open,
    signInLimit: true,
    faults: ['invalid_reset_token'],
    schema: {
      operationId: 'resetPassword',
      summary: 'Set a new password with the token from the mail',
      description: 'Ends every session of the account. The token works once, for 30 minutes.',
      body: schemas.ResetPasswordBody,
      response: { 204: Type.Null({ description: 'The password is set, and every session has ended.' }) },
    },
    handler: ({ body }) => resetPassword(context, body),
  });

  route.post(`${base}/stream-ticket`, {
    access: account,
    schema: {
      operationId: 'createStreamTicket',
      summary: 'Get a ticket for a stream',
      description: 'For clients that cannot send a header, such as `EventSource`: one use, 30 seconds.',
      response: { 201: schemas.StreamTicketAnswer },
    },
    handler: ({ principal }) => issueStreamTicket(context, principal),
  });

  route.get(`${base}/sessions`, {
    access: account,
    schema: {
      operationId: 'listSessions',
      summary: 'List your live sessions',
      querystring: PageQuery,
      response: { 200: schemas.SessionsAnswer },
    },
    handler: ({ principal, query }) => readSessions(context, principal, new Page(query)),
  });

  route.delete(`${base}/sessions/:id`, {
    access: account,
    schema: {
      operationId: 'endSession',
      summary: 'End one of your sessions',
      params: idParams<SessionId>(),
      response: { 204: Type.Null({ description: 'The session has ended.' }) },
    },
    handler: ({ principal, params }) => endSession(context, principal, params.id),
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

  function setRefreshCookie(reply: FastifyReply, value: string, maxAge: number): void {
    const secure = secureCookies();
    const cookie = { name: refreshCookie, value, maxAge, path: base, httpOnly: true, secure } as const;
    reply.header('set-cookie', stringifySetCookie({ ...cookie, sameSite: 'strict' }));
  }
}

function readRefreshCookie(request: FastifyRequest): string | undefined {
  return parseCookie(request.headers.cookie ?? '')[refreshCookie];
}

function clientOf(request: FastifyRequest): ClientTrace {
  return { ip: request.ip, userAgent: request.headers['user-agent'] };
}
