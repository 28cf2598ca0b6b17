/** The paths of accounts. No rules here: schema, permission, and the use case that does it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { type Cookie, deviceCookie, deviceTokenOf, readCookie, setCookie } from '../../http/cookies.ts';
import type { Routes } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import { apiPrefix } from '../../http/server.ts';
import type { SessionId } from '../../ids.ts';
import { Page } from '../../page.ts';
import type { AccountsContext, ClientTrace } from './accounts.ts';
import { login } from './login.ts';
import { readProfile } from './read-user.ts';
import { register } from './register.ts';
import { forgotPassword, resetPassword } from './reset-password.ts';
import * as schemas from './schemas.ts';
import {
  type Challenge,
  completeSignIn,
  readChallenge,
  type SecondFactorNeeded,
} from './second-factors/challenges.ts';
import { SecondFactorAnswer, SecondFactorBody } from './second-factors/schemas.ts';
import { endOtherSessions, endSession, issueStreamTicket, logout, readSessions } from './sessions.ts';
import { refresh, type SignIn } from './sign-in.ts';
import { lifetimes } from './tokens.ts';
import { resendOtp, verifyOtp } from './verify-otp.ts';

const open = { kind: 'public' } as const;
const account = { kind: 'account' } as const;
const base = `${apiPrefix}/auth`;
const refreshCookie: Cookie = { name: 'slipway_refresh', path: base };
const challengeCookie: Cookie = { name: 'slipway_challenge', path: base };

export function accountRoutes(routes: Routes, context: AccountsContext, isSecure: () => boolean): void {
  const route = routes.tagged('Accounts');
  route.post(`${base}/register`, {
    access: open,
    signInLimit: 'mail',
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
    signInLimit: 'guess',
    faults: ['invalid_otp', 'registration_closed'],
    schema: {
      operationId: 'verifyOtp',
      summary: 'Confirm the address with the code from the mail',
      description:
        'Six digits, ten minutes, single use, five tries a code from one network, twenty from all.',
      body: schemas.VerifyOtpBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const signIn = await verifyOtp(context, body, clientOf(request, body.refreshTokenIn));
      return signInAnswer(reply, signIn, body.refreshTokenIn);
    },
  });

  route.post(`${base}/resend-otp`, {
    access: open,
    signInLimit: 'mail',
    schema: {
      operationId: 'resendOtp',
      summary: 'Ask for a fresh code',
      description:
        'Answers the same for every address. While the code that was sent before can still be used, it is sent again.',
      body: schemas.EmailBody,
      response: {
        202: Type.Null({ description: 'If someone registered with the address, a code is on its way.' }),
      },
    },
    handler: ({ body }) => resendOtp(context, body),
  });

  route.post(`${base}/login`, {
    access: open,
    signInLimit: 'guess',
    faults: ['invalid_credentials', 'email_not_verified'],
    schema: {
      operationId: 'login',
      summary: 'Sign in',
      description:
        'Gives an access token of 15 minutes, and a refresh token of 30 days as a cookie or in the body. Where the account has a second factor: 202 with a challenge, which `POST /auth/login/second-factor` completes.',
      body: schemas.LoginBody,
      response: { 200: schemas.SignInAnswer, 202: SecondFactorAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const begun = await login(context, body, clientOf(request, body.refreshTokenIn));
      if (isHalf(begun)) return { status: 202 as const, body: begun };
      return { status: 200 as const, body: signInAnswer(reply, begun, body.refreshTokenIn) };
    },
  });

  route.post(`${base}/login/second-factor`, {
    access: open,
    signInLimit: 'guess',
    faults: ['invalid_challenge', 'invalid_second_factor'],
    schema: {
      operationId: 'loginWithSecondFactor',
      summary: 'Complete a sign-in with a second factor',
      description:
        'With the challenge that `POST /auth/login` gave: within five minutes, with five tries, from the same program and network. Twenty wrong ones within an hour, over all challenges of the account, and none are taken until the hour is over or a new password is set.',
      body: SecondFactorBody,
      response: { 200: schemas.SignInAnswer },
    },
    handler: async ({ body, request, reply }) => {
      const client = clientOf(request, body.refreshTokenIn);
      const signIn = await completeSignIn(context, body.challenge, body, client);
      return signInAnswer(reply, signIn, body.refreshTokenIn);
    },
  });

  route.get(`${base}/login/second-factor`, {
    access: open,
    faults: ['invalid_challenge'],
    schema: {
      operationId: 'getSecondFactorChallenge',
      summary: 'The second factor that a sign-in at the provider waits for',
      description:
        'For a browser that came back from single sign-on to `/sign-in?secondFactor=needed`: it has a cookie for this. Then as after `POST /auth/login`.',
      response: { 200: SecondFactorAnswer },
    },
    handler: async ({ request }) => {
      const cookie = readCookie(request, challengeCookie, isSecure());
      const token = cookie?.own ? cookie.value : undefined;
      return { secondFactor: await readChallenge(context, token, clientOf(request)) };
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
      if (inBody !== undefined) {
        const signIn = await refresh(context, inBody, clientOf(request, 'body'));
        return signInAnswer(reply, signIn, 'body');
      }
      const cookie = readCookie(request, refreshCookie, isSecure());
      return signInAnswer(reply, await refresh(context, cookie?.value, clientOf(request), cookie?.own));
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
      setCookie(reply, refreshCookie, { value: '', maxAgeMs: 0 }, isSecure());
    },
  });

  route.get(`${base}/me`, {
    access: { ...account, tokens: true },
    schema: {
      operationId: 'getMe',
      summary: 'Your own profile',
      description: 'With an API token: that of its maker, with the workspace that the token is for.',
      response: { 200: schemas.UserAnswer },
    },
    handler: ({ principal }) => readProfile(context.db, principal),
  });

  route.post(`${base}/forgot-password`, {
    access: open,
    signInLimit: 'mail',
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
    signInLimit: 'guess',
    faults: ['invalid_reset_token'],
    schema: {
      operationId: 'resetPassword',
      summary: 'Set a new password with the token from the mail',
      description: 'Ends every session of the account. The token works once, for 30 minutes.',
      body: schemas.ResetPasswordBody,
      response: { 204: Type.Null({ description: 'The password is set, and every session has ended.' }) },
    },
    handler: async ({ body, request, reply }) =>
      setDeviceCookie(reply, await resetPassword(context, body, clientOf(request)), isSecure()),
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

  route.delete(`${base}/sessions`, {
    access: account,
    schema: {
      operationId: 'endOtherSessions',
      summary: 'End all your sessions but this one',
      description: 'API tokens stay: they are revoked one by one.',
      response: { 204: Type.Null({ description: 'The others have ended.' }) },
    },
    handler: ({ principal }) => endOtherSessions(context, principal),
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
    { refreshToken, deviceToken, ...signIn }: SignIn,
    where: 'cookie' | 'body' = 'cookie',
  ) {
    const answer = { ...signIn, tokenType: 'Bearer' as const };
    if (where === 'body') return { ...answer, refreshToken };
    keepSignIn(reply, { refreshToken, ...(deviceToken && { deviceToken }) }, isSecure());
    return answer;
  }
}

/** In the cookies of a browser, which is how it stays signed in. */
export function keepSignIn(
  reply: FastifyReply,
  { refreshToken, deviceToken }: Pick<SignIn, 'refreshToken' | 'deviceToken'>,
  isSecure: boolean,
): void {
  setCookie(reply, refreshCookie, { value: refreshToken, maxAgeMs: lifetimes.sessionMs }, isSecure);
  setDeviceCookie(reply, deviceToken, isSecure);
}

/** Until the page is there that asks for the second factor. */
export function keepChallenge(reply: FastifyReply, { challenge }: Challenge, isSecure: boolean): void {
  setCookie(reply, challengeCookie, { value: challenge, maxAgeMs: lifetimes.challengeMs }, isSecure);
}

function setDeviceCookie(reply: FastifyReply, token: string | undefined, isSecure: boolean): void {
  if (token === undefined) return;
  setCookie(reply, deviceCookie, { value: token, maxAgeMs: lifetimes.deviceMs }, isSecure);
}

export function isHalf(begun: SignIn | SecondFactorNeeded): begun is SecondFactorNeeded {
  return 'secondFactor' in begun;
}

/** What keeps its refresh token by itself keeps no cookies either. */
export function clientOf(request: FastifyRequest, tokenIn: 'cookie' | 'body' = 'cookie'): ClientTrace {
  const client = { ip: request.ip, userAgent: request.headers['user-agent'], requestId: request.id };
  return tokenIn === 'body' ? client : { ...client, device: { token: deviceTokenOf(request) } };
}
