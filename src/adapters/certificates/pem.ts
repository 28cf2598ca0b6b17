/** PEM as people paste it: with text around the blocks, with Windows' line ends, indented, or wrapped anyhow. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../secret.ts';

export interface PemBlock {
  readonly label: string;
  /** Lines such as `Proc-Type: 4,ENCRYPTED`, in which old tools say how the content is encrypted. */
  readonly headers: readonly string[];
  /** `undefined` where the content is no base64. */
  readonly der: Buffer | undefined;
}

export function pemBlocks(text: string): PemBlock[] {
  const found = text.matchAll(/-----BEGIN ([A-Z0-9 ]{1,40})-----([^-]*(?:-(?!----)[^-]*)*)-----END \1-----/g);
  return [...found].map(([, label = '', content = '']) => {
    const lines = content.split(/\r\n?|\n/).map((line) => line.trim());
    const headers = lines.filter((line) => line.includes(':'));
    const base64 = lines
      .filter((line) => !line.includes(':'))
      .join('')
      .replaceAll(/\s/g, '');
    return { label, headers, der: decoded(base64) };
  });
}

function decoded(base64: string): Buffer | undefined {
  const isWhole = base64.length > 0 && base64.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  return isWhole ? Buffer.from(base64, 'base64') : undefined;
}

/** PKCS #8, PKCS #1 or SEC 1. */
const types = { 'PRIVATE KEY': 'pkcs8', 'RSA PRIVATE KEY': 'pkcs1', 'EC PRIVATE KEY': 'sec1' } as const;

const typeOf = (label: string) =>
  label === 'PRIVATE KEY' || label === 'RSA PRIVATE KEY' || label === 'EC PRIVATE KEY'
    ? types[label]
    : undefined;

/** What OpenSSL says of a key that it cannot read is not told: it could say what stands in it. */
export function readKey(pem: Secret): { readonly key: KeyObject } | { readonly error: string } {
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
