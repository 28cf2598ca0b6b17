/** What an authority sent as a certificate is looked at before anybody serves it: our key, our names, now. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { nonsense } from './acme-faults.ts';

export interface IssuedFacts {
  /** The chain, and nothing that stood around it. */
  readonly certificate: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly issuer: string;
}

const mostCertificates = 10;

export function checkIssued(
  text: string,
  wanted: {
    readonly names: readonly string[];
    readonly key: KeyObject;
    readonly now: Date;
    readonly label: string;
  },
): IssuedFacts {
  const { names, key, now, label } = wanted;
  const chain = readChain(text, label);
  const [leaf] = chain;
  if (!leaf || chain.length > mostCertificates)
    throw nonsense(label, `it sent ${chain.length} certificates in the place of a chain`);
  if (!leaf.checkPrivateKey(key)) throw nonsense(label, 'its certificate is for another key');
  const has = new Set((leaf.subjectAltName ?? '').toLowerCase().split(', '));
  const missing = names.filter((name) => !has.has(`dns:${name.toLowerCase()}`));
  if (missing.length > 0)
    throw nonsense(
      label,
      `its certificate is for ${leaf.subjectAltName ?? 'no name'}, not for ${missing.join(', ')}`,
    );
  if (leaf.validToDate <= now) throw nonsense(label, `its certificate ended on ${leaf.validTo}`);
  for (const [index, each] of chain.entries()) {
    const next = chain[index + 1];
    if (next && !(each.checkIssued(next) && each.verify(next.publicKey)))
      throw nonsense(label, `certificate ${index + 1} of its chain is not signed by the next one`);
  }
  return {
    certificate: chain.map(String).join(''),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    issuer: issuerOf(leaf),
  };
}

function readChain(text: string, label: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    throw nonsense(label, 'it sent a certificate that cannot be read');
  }
}

/** «Let's Encrypt R11»: the organisation and its key. */
function issuerOf(certificate: X509Certificate): string {
  const part = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(certificate.issuer)?.[1];
  const parts = [part('O'), part('CN')].filter((each) => each !== undefined);
  return parts.length > 0 ? parts.join(' ') : certificate.issuer.replaceAll('\n', ', ');
}
