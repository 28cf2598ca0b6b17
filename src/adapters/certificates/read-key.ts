/** A private key as people paste it: PKCS #8, PKCS #1 or SEC 1, with other blocks around it. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../secret.ts';
import { pemBlocks } from './pem.ts';

export type ReadKey = { readonly key: KeyObject } | { readonly error: string };

const types = { 'PRIVATE KEY': 'pkcs8', 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const;

const typeOf = (label: string) =>
  label === 'PRIVATE KEY' || label === 'RSA PRIVATE KEY' || label === 'EC PRIVATE KEY'
    ? types[label]
    : undefined;

/** What OpenSSL says of a key that it cannot read is not told: it could say what stands in it. */
export function readKey(pem: Secret): ReadKey {
  const keys = pemBlocks(pem.reveal()).filter(({ label }) => label.endsWith('PRIVATE KEY'));
  const [block, second] = keys;
  if (!block) return { error: 'is not a private key in PEM' };
  if (second) return { error: 'holds more than one private key' };
  if (block.label === 'ENCRYPTED PRIVATE KEY' || block.headers.some((line) => /ENCRYPTED/.test(line)))
    return {
      error: 'is encrypted with a passphrase; remove it first (openssl pkey -in key.pem -out plain.pem)',
    };
  const type = typeOf(block.label);
  if (!type) return { error: `is of the kind «${block.label}», which servers cannot use for TLS` };
  if (!block.der) return { error: 'is cut off, or was changed while it was copied' };
  try {
    return { key: createPrivateKey({ key: block.der, format: 'der', type }) };
  } catch {
    return { error: 'cannot be read as a private key' };
  }
}
