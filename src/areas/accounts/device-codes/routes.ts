/** The paths of device codes: two of the program that waits, two of the person who answers. */
import Type from 'typebox';
import type { Routes } from '../../../http/routes.ts';
import { apiPrefix } from '../../../http/server.ts';
import type { AccountsContext } from '../accounts.ts';
import { clientOf } from '../routes.ts';
import { SignInAnswer } from '../schemas.ts';
import {
  answerDeviceCode,
  createDeviceCode,
  loginWithDeviceCode,
  readDeviceRequest,
} from './device-codes.ts';
import * as schemas from './schemas.ts';

const open = { kind: 'public' } as const;
const account = { kind: 'account' } as const;
const auth = `${apiPrefix}/auth`;
const base = `${auth}/device-codes`;

export function deviceCodeRoutes(routes: Routes, context: AccountsContext): void {
  const route = routes.tagged('Accounts');
  route.post(base, {
    access: open,
    signInLimit: 'guess',
    schema: {
      operationId: 'createDeviceCode',
      summary: 'Ask to be signed in by a browser',
      description:
        'For programs without a browser of their own (RFC 8628). Show the person `verificationUri` and `userCode`, then look with `POST /auth/login/device-code` until they have answered: within ten minutes.',
      body: schemas.DeviceCodeBody,
      response: { 201: schemas.DeviceCodeAnswer },
    },
    handler: ({ body, request }) => createDeviceCode(context, body.deviceName, clientOf(request, 'body')),
  });

  route.post(`${auth}/login/device-code`, {
    access: open,
    faults: ['access_denied', 'expired_token', 'slow_down'],
    schema: {
      operationId: 'loginWithDeviceCode',
      summary: 'Sign in with a device code, once it was allowed',
      description:
        '202 while nobody has answered: look again after `interval` seconds. The tokens are given once, to the program and network that asked for the code.',
      body: schemas.DeviceLoginBody,
      response: { 200: SignInAnswer, 202: schemas.DevicePendingAnswer },
    },
    handler: async ({ body, request }) => {
      const looked = await loginWithDeviceCode(context, body.deviceCode, clientOf(request, 'body'));
      if ('interval' in looked) return { status: 202 as const, body: looked };
      return { status: 200 as const, body: { ...looked, tokenType: 'Bearer' as const } };
    },
  });

  route.post(`${base}/verify`, {
    access: account,
    signInLimit: 'guess',
    faults: ['not_found'],
    schema: {
      operationId: 'verifyUserCode',
      summary: 'See what asks to be signed in with a code',
      description:
        'To be shown before `POST /auth/device-codes/answer`. Name and program are what it says of itself.',
      body: schemas.UserCodeBody,
      response: { 200: schemas.DeviceRequestAnswer },
    },
    handler: ({ body, request }) => readDeviceRequest(context, body.userCode, clientOf(request)),
  });

  route.post(`${base}/answer`, {
    // It lets a program be you: whoever finds a screen that was left alone must not.
    access: { ...account, fresh: { allow: [true] } },
    signInLimit: 'guess',
    faults: ['not_found'],
    schema: {
      operationId: 'answerDeviceCode',
      summary: 'Allow or refuse a program that asks to be signed in',
      description:
        'Allowed, it gets a session of yours: all that you can do, it can, until the session ends. Once; what was answered stays so.',
      body: schemas.DeviceAnswerBody,
      response: { 204: Type.Null({ description: 'The program is told when it looks again.' }) },
    },
    handler: ({ principal, body }) => answerDeviceCode(context, principal, body),
  });
}
