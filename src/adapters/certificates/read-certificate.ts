/** What a certificate says, in the words that the rest of Slipway uses. */
import { X509Certificate } from 'node:crypto';
import { Fault } from '../../fault.ts';
import { pemBlocks } from './pem.ts';

export interface CertificateFacts {
  /** The DNS names it is for, in lower case; addresses are left out. */
  readonly names: readonly string[];
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** SHA-256, as openssl shows it. */
  readonly fingerprint: string;
}

const labels = ['CERTIFICATE', 'X509 CERTIFICATE'];

/** Of the first certificate in the text. */
export function readCertificate(pem: string): CertificateFacts {
  const [leaf] = certificatesIn(pem);
  if (leaf) return factsOf(leaf);
  throw new Fault('certificate_invalid', 'There is no certificate in PEM that can be read.', {
    errors: [{ path: 'ssl.certificate', message: 'is not a certificate in PEM' }],
  });
}

export function factsOf(leaf: X509Certificate): CertificateFacts {
  return {
    names: dnsNamesOf(leaf),
    issuer: issuerOf(leaf),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    fingerprint: leaf.fingerprint256,
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

/** «Let's Encrypt R11»: the organisation and its key. */
function issuerOf({ issuer }: X509Certificate): string {
  const part = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(issuer)?.[1];
  const parts = [part('O'), part('CN')].filter((each) => each !== undefined);
  return parts.length > 0 ? parts.join(' ') : issuer.replaceAll('\n', ', ');
}

/** Whether a certificate is for a hostname, as browsers see it: a star stands for one whole label, and only the first. */
export function covers(names: readonly string[], hostname: string): boolean {
  const wanted = plain(hostname);
  const rest = wanted.slice(wanted.indexOf('.') + 1);
  return names.some((each) => {
    const name = plain(each);
    if (name === wanted) return true;
    return name.startsWith('*.') && rest !== wanted && name.slice(2) === rest;
  });
}

function plain(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
