/** The key of an account at the authority: it signs every request, and its thumbprint answers every challenge. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';

interface PublicJwk {
  readonly crv: string;
  readonly kty: 'EC';
  readonly x: string;
  readonly y: string;
}

export interface SignedBody {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

/** A new EC key on P-256, as PKCS #8. */
export function newKey(): Secret {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
}

/** Where it does not read as a key, the fault says so without what OpenSSL would tell of it. */
export function keyOf(pem: Secret, whose: string): KeyObject {
  try {
    return createPrivateKey(pem.reveal());
  } catch {
    throw new Fault('internal_error', `The key of the ${whose} cannot be read.`);
  }
}

export function accountKeyOf(pem: Secret): KeyObject {
  const key = keyOf(pem, 'account');
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Fault('internal_error', 'The key of the account is not one on P-256.');
  return key;
}

/** Its members in the order of the alphabet, which is what a thumbprint is taken of (RFC 7638). */
function publicJwk(key: KeyObject): PublicJwk {
  const { crv = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' });
  return { crv, kty: 'EC', x, y };
}

export function thumbprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(JSON.stringify(publicJwk(key)))
    .digest('base64url');
}

/** A body that only the holder of the key can have sent, for this address, once. No payload: it asks to read. */
export function signedBody(
  key: KeyObject,
  header: { readonly url: string; readonly nonce: string; readonly kid: string | undefined },
  payload: object | undefined,
): SignedBody {
  const { url, nonce, kid } = header;
  const who = kid === undefined ? { jwk: publicJwk(key) } : { kid };
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const told = encode({ alg: 'ES256', nonce, url, ...who });
  const sent = payload === undefined ? '' : encode(payload);
  const input = Buffer.from(`${told}.${sent}`);
  const signature = sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return { protected: told, payload: sent, signature };
}
