/**
 * What a passkey and we say to each other (WebAuthn). The challenge that it signs is the token of one of our challenges:
 * so it is as fresh, and works as often, as that. Who we are to it follows from the public address of the service.
 */
import { isIP } from 'node:net';
import type {
  AuthenticationResponseJSON,
  RegistrationResponseJSON,
  WebAuthnCredential,
} from '@simplewebauthn/server';
import { errorText, Fault } from '../../../fault.ts';
import type { AccountId } from '../../../ids.ts';
import { once } from '../../../once.ts';
import type { Queryable } from '../../../store/database.ts';
import type { AccountsContext, User } from '../accounts.ts';
import { lifetimes } from '../tokens.ts';
import * as queries from './queries.ts';

// Loaded with the first passkey: it brings readers of certificates with it that nobody needs to start.
const webAuthn = once(() => import('@simplewebauthn/server'));

/** ES256, EdDSA and RS256: what authenticators have. */
const algorithms = [-7, -8, -257];

type Sent<T extends { clientExtensionResults: unknown }> = Omit<
  T,
  'clientExtensionResults' | 'authenticatorAttachment'
>;
export type PasskeyAssertion = Sent<AuthenticationResponseJSON>;
export type PasskeyAttestation = Sent<RegistrationResponseJSON>;

interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Authenticators know us by our name, and browsers speak to them only where nobody can listen. */
function relyingParty(publicUrl: string): RelyingParty {
  const { hostname, origin, protocol } = new URL(publicUrl);
  const isSafe = protocol === 'https:' || hostname === 'localhost';
  if (isSafe && isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return { id: hostname, origin };
  throw new Fault('passkeys_unavailable', `Passkeys do not work at ${origin}.`, {
    hint: 'They need a name and https, or localhost. Set SLIPWAY_PUBLIC_URL to where people reach the service.',
  });
}

function descriptorsOf(passkeys: readonly queries.PasskeyRow[]) {
  return passkeys.map(({ credentialId, transports }) => ({
    id: credentialId,
    type: 'public-key' as const,
    transports: [...transports],
  }));
}

/** For `navigator.credentials.create()`. */
export function attestationOptions(
  publicUrl: string,
  token: string,
  { id, email, name }: Pick<User, 'id' | 'email' | 'name'>,
  passkeys: readonly queries.PasskeyRow[],
) {
  return {
    rp: { id: relyingParty(publicUrl).id, name: 'Slipway' },
    user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: name ?? email },
    challenge: inBase64Url(token),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: lifetimes.challengeMs,
    excludeCredentials: descriptorsOf(passkeys),
    authenticatorSelection: { residentKey: 'preferred' as const, userVerification: 'preferred' as const },
    attestation: 'none' as const,
  };
}

/** For `navigator.credentials.get()`. */
export function assertionOptions(publicUrl: string, token: string, passkeys: readonly queries.PasskeyRow[]) {
  return {
    challenge: inBase64Url(token),
    rpId: relyingParty(publicUrl).id,
    allowCredentials: descriptorsOf(passkeys),
    userVerification: 'preferred' as const,
    timeout: lifetimes.challengeMs,
  };
}
export type AssertionOptions = ReturnType<typeof assertionOptions>;

/** The key that was made, where it was made for us and for this challenge. */
export async function readAttestation(
  publicUrl: string,
  token: string,
  response: PasskeyAttestation,
): Promise<WebAuthnCredential> {
  const { id, origin } = relyingParty(publicUrl);
  const { verifyRegistrationResponse } = await webAuthn();
  const { registrationInfo } = await refusing(() =>
    verifyRegistrationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: inBase64Url(token),
      expectedOrigin: origin,
      expectedRPID: id,
      // The password was proven already; a key without a PIN is a second factor all the same.
      requireUserVerification: false,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!registrationInfo) throw refused('The signature is not one of this authenticator.');
  return registrationInfo.credential;
}

/** False where the account has no such passkey. In the transaction of what it allows. */
export async function takePasskey(
  tx: Queryable,
  { clock, publicUrl }: AccountsContext,
  accountId: AccountId,
  { challenge, credential }: { readonly challenge: string; readonly credential: PasskeyAssertion },
): Promise<boolean> {
  const found = await queries.findPasskey(tx, accountId, credential.id);
  if (!found) return false;
  const { credentialId, publicKey, counter: before, transports } = found;
  const { id, origin } = relyingParty(publicUrl());
  const { verifyAuthenticationResponse } = await webAuthn();
  const { verified, authenticationInfo } = await refusing(() =>
    verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: inBase64Url(challenge),
      expectedOrigin: origin,
      expectedRPID: id,
      credential: {
        id: credentialId,
        publicKey: new Uint8Array(publicKey),
        counter: before,
        transports: [...transports],
      },
      requireUserVerification: false,
    }),
  );
  if (!verified) throw refused('The signature is not one of this passkey.');
  return queries.takePasskeyCounter(
    tx,
    found.id,
    { before, counter: authenticationInfo.newCounter },
    clock.now(),
  );
}

/** The library throws a sentence for each thing that is not as it should be: origin, challenge, counter, form. */
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (error) {
    throw refused(errorText(error), error);
  }
}

function refused(why: string, cause?: unknown): Fault {
  const sentence = `The answer of the passkey cannot be taken: ${why.slice(0, 300)}`;
  return new Fault('invalid_second_factor', sentence, {
    hint: 'Begin again, on a page of this service. If it stays, use another factor or a recovery code.',
    cause,
  });
}

function inBase64Url(token: string): string {
  return Buffer.from(token).toString('base64url');
}
