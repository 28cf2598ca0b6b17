/** What a certificate says, in the words that the rest of Slipway uses. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { Fault } from '../../fault.ts';
import { pemBlocks } from './pem.ts';

export interface CertificateFacts {
  /** The DNS names it is for, in lower case; addresses are left out. */
  readonly names: readonly string[];
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** In hexadecimal. */
  readonly serial: string;
  /** SHA-256, as openssl shows it. */
  readonly fingerprint: string;
  readonly chainLength: number;
  /** Such as «EC P-256» or «RSA 2048». */
  readonly keyType: string;
  readonly isSelfSigned: boolean;
}

const labels = ['CERTIFICATE', 'X509 CERTIFICATE'];

/** Of the first certificate in the text. */
export function readCertificate(pem: string): CertificateFacts {
  const chain = certificatesIn(pem);
  const [leaf] = chain;
  if (leaf) return factsOf(leaf, chain.length);
  throw new Fault('certificate_invalid', 'There is no certificate in PEM that can be read.', {
    errors: [{ path: 'ssl.certificate', message: 'is not a certificate in PEM' }],
  });
}

export function factsOf(leaf: X509Certificate, chainLength: number): CertificateFacts {
  return {
    names: dnsNamesOf(leaf),
    issuer: issuerOf(leaf),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    serial: leaf.serialNumber,
    fingerprint: leaf.fingerprint256,
    chainLength,
    keyType: keyTypeOf(leaf.publicKey),
    isSelfSigned: isSelfSigned(leaf),
  };
}

/** All in the text, in its order; `undefined` stands for one that cannot be read. */
export function readAll(pem: string): (X509Certificate | undefined)[] {
  return pemBlocks(pem)
    .filter(({ label }) => labels.includes(label))
    .map(({ der }) => {
      try {
        return der && new X509Certificate(der);
      } catch {
        return undefined;
      }
    });
}

/** None where one of them cannot be read: half a chain would be served as if it were whole. */
export function certificatesIn(pem: string): X509Certificate[] {
  const all = readAll(pem);
  const readable = all.filter((each) => each !== undefined);
  return readable.length === all.length ? readable : [];
}

export function dnsNamesOf(certificate: X509Certificate): string[] {
  // A value with a comma or a quote in it is itself put in quotes, so that it cannot pass for two.
  const entries = (certificate.subjectAltName ?? '').matchAll(/(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,]*)/g);
  return [...entries].flatMap(([, kind, value = '']) => (kind === 'DNS' ? [value.toLowerCase()] : []));
}

export function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

/** «Let's Encrypt R11»: the organisation and its key. */
function issuerOf({ issuer }: X509Certificate): string {
  const part = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(issuer)?.[1];
  const parts = [part('O'), part('CN')].filter((each) => each !== undefined);
  return parts.length > 0 ? parts.join(' ') : issuer.replaceAll('\n', ', ');
}

const curves: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

export function keyTypeOf(key: KeyObject): string {
  const { modulusLength, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') return `RSA ${modulusLength}`;
  if (key.asymmetricKeyType === 'ec') return `EC ${curves[namedCurve] ?? namedCurve}`;
  return key.asymmetricKeyType ?? 'unknown';
}
