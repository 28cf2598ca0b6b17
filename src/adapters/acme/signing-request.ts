/** The request that a certificate is made from (PKCS #10): a key, and the names it is for. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { bits, context, implicit, none, octets, oid, sequence, set, zero } from './der.ts';

const extensionRequest = '1.2.840.113549.1.9.14';
const subjectAltName = '2.5.29.17';
const dnsName = 2;

/** In DER. The names stand in the extension alone: a subject's name is no longer looked at, and is too short. */
export function signingRequest(key: KeyObject, names: readonly string[]): Buffer {
  const general = sequence(...names.map((name) => implicit(dnsName, Buffer.from(name, 'ascii'))));
  const extensions = sequence(sequence(oid(subjectAltName), octets(general)));
  const attributes = context(0, sequence(oid(extensionRequest), set(extensions)));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const info = sequence(zero, sequence(), publicKey, attributes);
  return sequence(info, signatureAlgorithm(key), bits(sign('sha256', info, key)));
}

function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'ec') return sequence(oid('1.2.840.10045.4.3.2'));
  if (key.asymmetricKeyType === 'rsa') return sequence(oid('1.2.840.113549.1.1.11'), none);
  throw new TypeError(`a certificate is not asked for with a key of type ${key.asymmetricKeyType}`);
}
