/**
 * A certificate with its chain and its key, looked at before anything is touched: what the proxy gets is made anew from
 * what was read, so there is no comment and no empty line in it, with which the runtime socket would end it.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { mustBeHost } from './routes.ts';

export interface CertificateSpec {
  /** A UUID of ours: the file is named after it. The same id is the same place: what was there is replaced. */
  readonly id: string;
  /** Which names it is shown for; others that it may have are left alone. */
  readonly names: readonly string[];
  /** PEM: the leaf, its chain in order, its key without a passphrase. */
  readonly bundle: Secret;
}

export interface CheckedBundle {
  readonly pem: Secret;
  /** The leaf alone, in PEM. */
  readonly leaf: string;
}

/** Nobody accepts fewer, the proxy's OpenSSL among them. */
const leastRsaBits = 2048;
const mostNames = 200;
const mostBytes = 256 * 1024;

export function checkBundle({ id, names, bundle }: CertificateSpec): CheckedBundle {
  mustBeCertificateId(id);
  if (names.length === 0 || names.length > mostNames)
    throw invalid(`A certificate is installed for 1 to ${mostNames} names.`, String(names.length));
  for (const name of names) mustBeHost(name.replace(/^\*\./, ''));
  const text = bundle.reveal();
  if (text.length > mostBytes) throw invalid('The certificate with its chain is too large.');
  const blocks = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g)];
  const chain = blocks.flatMap(([pem, kind]) => (kind === 'CERTIFICATE' ? [readCertificate(pem)] : []));
  const keys = blocks.flatMap(([pem, kind]) => (kind?.endsWith('PRIVATE KEY') ? [readKey(pem)] : []));
  const [leaf, key] = [chain[0], keys[0]];
  if (!leaf || !key || keys.length > 1) throw invalid('A bundle has a certificate, its chain, and one key.');
  if (!leaf.checkPrivateKey(key)) throw invalid('The key is not that of the first certificate.');
  const { modulusLength } = leaf.publicKey.asymmetricKeyDetails ?? {};
  if (leaf.publicKey.asymmetricKeyType === 'rsa' && (modulusLength ?? 0) < leastRsaBits)
    throw invalid(`An RSA key has at least ${leastRsaBits} bits.`, String(modulusLength));
  for (const [index, each] of chain.entries()) {
    const issuer = chain[index + 1];
    if (issuer && !(each.checkIssued(issuer) && each.verify(issuer.publicKey)))
      throw invalid('A certificate of the chain was not issued by the one after it.', each.subject);
  }
  const uncovered = names.filter((name) => !covers(leaf, name));
  if (uncovered.length > 0)
    throw invalid(
      'The certificate is not made out for a name that it is to be shown for.',
      uncovered.join(' '),
    );
  const pem = [...chain.map(String), key.export({ type: 'pkcs8', format: 'pem' }).toString()].join('');
  return { pem: new Secret(pem), leaf: String(leaf) };
}

export function mustBeCertificateId(id: string): void {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new Fault('invalid_input', 'A certificate has a UUID.', { evidence: id });
}

/** A wildcard is covered by the same wildcard only, a name also by the wildcard in place of its first label. */
function covers({ subjectAltName = '' }: X509Certificate, name: string): boolean {
  const listed = subjectAltName.split(', ').map((each) => each.replace(/^DNS:/, '').toLowerCase());
  return listed.includes(name) || listed.includes(name.replace(/^[^.]+/, '*'));
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new Fault('certificate_invalid', 'A certificate of the bundle cannot be read.', { cause: error });
  }
}

/** Without the cause: what it says of a key is nobody's business. */
function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw invalid('The key of the bundle cannot be read. It has no passphrase.');
  }
}

function invalid(sentence: string, evidence?: string): Fault {
  return new Fault('certificate_invalid', sentence, evidence === undefined ? {} : { evidence });
}
