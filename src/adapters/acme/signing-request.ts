/** The request that a certificate is made from (PKCS #10): a key, and the names it is for. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';

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

/** What little of DER (ASN.1) such a request needs. */
const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
const octets = (content: Uint8Array) => tagged(0x04, content);
const bits = (content: Uint8Array) => tagged(0x03, Buffer.from([0]), content);
const zero = Buffer.from([0x02, 0x01, 0x00]);
const none = Buffer.from([0x05, 0x00]);
/** `[number]` with parts inside. */
const context = (number: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | number, ...parts);
/** `[number]` in the place of the type that stands there. */
const implicit = (number: number, content: Uint8Array) => tagged(0x80 | number, content);

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const each of rest) {
    const digits = [each & 0x7f];
    for (let left = each >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}
