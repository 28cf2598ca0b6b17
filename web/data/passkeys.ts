/** Passkeys as the browser makes and uses them; what it refuses is said in words. */
import type {
  PasskeyAssertion,
  PasskeyAssertionOptions,
  PasskeyAttestation,
  PasskeyAttestationOptions,
} from '../../sdk/index.ts';
import { Refusal } from './failure.ts';

/** Browsers speak to authenticators only where nobody can listen. */
export function whyNoPasskeys(): string | undefined {
  return 'PublicKeyCredential' in globalThis
    ? undefined
    : 'This browser offers passkeys over https only, or at localhost.';
}

/** Makes one for this account. */
export async function makePasskey(options: PasskeyAttestationOptions): Promise<PasskeyAttestation> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(Object(options));
  return answerOf(() => navigator.credentials.create({ publicKey }));
}

/** Signs with one of those that the service knows. */
export async function signWithPasskey(options: PasskeyAssertionOptions): Promise<PasskeyAssertion> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(Object(options));
  return answerOf(() => navigator.credentials.get({ publicKey }));
}

const refusals: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  NotAllowedError: ['No passkey was used: it was cancelled, or took too long.', 'Try again.'],
  InvalidStateError: [
    'This device has a passkey of your account already.',
    'Use another device, or that one.',
  ],
  SecurityError: [
    'The browser allows no passkey at this address.',
    'Open the service at its public address (SLIPWAY_PUBLIC_URL), over https.',
  ],
};

/** Its JSON is what the service takes; the type of the browser's own `toJSON` says less. */
async function answerOf<Answer>(ask: () => Promise<Credential | null>): Promise<Answer> {
  try {
    const given = await ask();
    if (given instanceof PublicKeyCredential) return Object(given.toJSON());
  } catch (error) {
    const [message, hint] = (error instanceof DOMException && refusals[error.name]) || [];
    if (!message || !hint) throw error;
    throw new Refusal(message, hint);
  }
  throw new Refusal('The browser gave no passkey.', 'Try again.');
}
