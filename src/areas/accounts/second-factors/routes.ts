/** The paths of second factors, and of the fresh proof. Every change asks for that proof first. */
import Type from 'typebox';
import type { Routes } from '../../../http/routes.ts';
import { idParams } from '../../../http/schemas.ts';
import { apiPrefix } from '../../../http/server.ts';
import type { PasskeyId } from '../../../ids.ts';
import type { AccountsContext } from '../accounts.ts';
import { clientOf } from '../routes.ts';
import { renewRecoveryCodes } from './change-factors.ts';
import { beginConfirm, confirm } from './confirm.ts';
import { beginTotp, confirmTotp, readSecondFactors, removeTotp } from './factors.ts';
import { beginPasskey, registerPasskey, removePasskey, renamePasskey } from './passkeys.ts';
import * as schemas from './schemas.ts';

const account = { kind: 'account' } as const;
const fresh = { kind: 'account', fresh: true } as const;
const base = `${apiPrefix}/auth`;

export function secondFactorRoutes(routes: Routes, context: AccountsContext): void {
  const route = routes.tagged('Second factors');
  route.get(`${base}/second-factors`, {
    access: account,
    schema: {
      operationId: 'getSecondFactors',
      summary: 'Your second factors',
      response: { 200: schemas.SecondFactorsAnswer },
    },
    handler: ({ principal }) => readSecondFactors(context, principal),
  });

  route.post(`${base}/totp`, {
    access: fresh,
    schema: {
      operationId: 'startTotp',
      summary: 'Begin to use an authenticator app',
      description:
        'Gives the secret for the app. It counts once its first code was sent with `POST /auth/totp/confirm`, within an hour; until then nothing changes. Where an app is on already, the new one then takes its place.',
      response: { 201: schemas.TotpAnswer },
    },
    handler: ({ principal }) => beginTotp(context, principal),
  });

  route.post(`${base}/totp/confirm`, {
    access: fresh,
    signInLimit: 'guess',
    faults: ['invalid_second_factor', 'not_found'],
    schema: {
      operationId: 'verifyTotp',
      summary: 'Turn the authenticator app on, with its first code',
      description:
        'From now on a sign-in asks for a second factor. With the first one you are given recovery codes, and your other sessions end: they were opened with the password alone.',
      body: schemas.TotpCodeBody,
      response: { 200: schemas.TotpOnAnswer },
    },
    handler: ({ principal, body }) => confirmTotp(context, principal, body.code),
  });

  route.delete(`${base}/totp`, {
    access: fresh,
    faults: ['not_found'],
    schema: {
      operationId: 'deleteTotp',
      summary: 'Turn the authenticator app off',
      description: 'With the last second factor the recovery codes go, too.',
      response: { 204: Type.Null({ description: 'It is off.' }) },
    },
    handler: ({ principal }) => removeTotp(context, principal),
  });

  route.post(`${base}/recovery-codes`, {
    access: fresh,
    faults: ['no_second_factor'],
    schema: {
      operationId: 'createRecoveryCodes',
      summary: 'Get new recovery codes',
      description: 'Those before work no more.',
      response: { 201: schemas.RecoveryCodesAnswer },
    },
    handler: ({ principal }) => renewRecoveryCodes(context, principal),
  });

  route.post(`${base}/passkeys/options`, {
    access: fresh,
    faults: ['passkeys_unavailable'],
    schema: {
      operationId: 'startPasskey',
      summary: 'Begin to register a passkey',
      description: 'Gives what the browser needs to make one.',
      response: { 201: schemas.AttestationOptionsAnswer },
    },
    handler: ({ principal, request }) => beginPasskey(context, principal, clientOf(request)),
  });

  route.post(`${base}/passkeys`, {
    access: fresh,
    signInLimit: 'guess',
    faults: ['invalid_challenge', 'invalid_second_factor', 'passkey_known', 'passkeys_unavailable'],
    schema: {
      operationId: 'createPasskey',
      summary: 'Register a passkey',
      description: 'As a second factor. With the first one come recovery codes, and your other sessions end.',
      body: schemas.PasskeyBody,
      response: { 201: schemas.NewPasskeyAnswer },
    },
    handler: ({ principal, body, request }) => registerPasskey(context, principal, body, clientOf(request)),
  });

  route.patch(`${base}/passkeys/:id`, {
    access: account,
    schema: {
      operationId: 'updatePasskey',
      summary: 'Rename a passkey',
      params: idParams<PasskeyId>(),
      body: schemas.PasskeyNameBody,
      response: { 200: schemas.PasskeyAnswer },
    },
    handler: ({ principal, params, body }) => renamePasskey(context, principal, params.id, body.name),
  });

  route.delete(`${base}/passkeys/:id`, {
    access: fresh,
    schema: {
      operationId: 'deletePasskey',
      summary: 'Remove a passkey',
      description: 'With the last second factor the recovery codes go, too.',
      params: idParams<PasskeyId>(),
      response: { 204: Type.Null({ description: 'It is removed.' }) },
    },
    handler: ({ principal, params }) => removePasskey(context, principal, params.id),
  });

  route.post(`${base}/confirm`, {
    access: account,
    signInLimit: 'guess',
    faults: [
      'invalid_credentials',
      'invalid_challenge',
      'invalid_second_factor',
      'passkeys_unavailable',
      'second_factor_required',
    ],
    schema: {
      operationId: 'verifyPassword',
      summary: 'Prove again that it is you',
      description:
        'What hands out secrets, and what weakens the protection of an account, a workspace or the installation (`x-fresh-proof`), asks for a proof that was given in this session within ten minutes (`fresh_proof_required`). A sign-in is one. With the password, or where the account has a second factor with that.',
      body: schemas.ConfirmBody,
      response: { 204: Type.Null({ description: 'The session is as fresh as after a sign-in.' }) },
    },
    handler: ({ principal, body, request }) => confirm(context, principal, body, clientOf(request)),
  });

  route.post(`${base}/confirm/challenge`, {
    access: account,
    signInLimit: 'guess',
    faults: ['passkeys_unavailable'],
    schema: {
      operationId: 'createConfirmChallenge',
      summary: 'Get a challenge for a passkey, to prove again that it is you',
      description: 'Also tells what else can be proven with. A code is sent without it.',
      response: { 201: schemas.ChallengeAnswer },
    },
    handler: ({ principal, request }) => beginConfirm(context, principal, clientOf(request)),
  });
}
