/** What is wrong with a list of certificates that is to be served: the order, the signatures, the strength, the dates. */
import type { KeyObject, X509Certificate } from 'node:crypto';

const leastRsaBits = 2048;
const serverAuth = '1.3.6.1.5.5.7.3.1';
const goodCurves = ['prime256v1', 'secp384r1', 'secp521r1'];

type Chain = readonly [X509Certificate, ...X509Certificate[]];

export function chainErrors(chain: Chain, now: Date): string[] {
  return [...chain.flatMap((each, index) => ownErrors(each, index, now)), ...linkErrors(chain)];
}

/** Where the certificate of a key comes too late in the list, its place counted from one. */
export function placeOfLeaf(chain: Chain, key: KeyObject | undefined): number {
  const ofKey = key ? chain.findIndex((each) => each.checkPrivateKey(key)) : -1;
  if (ofKey >= 0) return ofKey + 1;
  return chain[0].ca ? chain.findIndex((each) => !each.ca) + 1 || 1 : 1;
}

function ownErrors(certificate: X509Certificate, index: number, now: Date): string[] {
  const which = named(certificate, index);
  const errors: string[] = [];
  if (certificate.validToDate <= now)
    errors.push(`${which} expired on ${certificate.validToDate.toISOString()}`);
  if (certificate.validFromDate > now)
    errors.push(`${which} is not valid before ${certificate.validFromDate.toISOString()}`);
  const weak = weakness(certificate.publicKey);
  if (weak) errors.push(`${which} ${weak}`);
  // Nobody looks at the signature of a root: it is known, or it is not.
  const algorithm = certificate.signatureAlgorithm ?? certificate.signatureAlgorithmOid;
  if (/md[245]|sha-?1(?!\d)/i.test(algorithm) && !(index > 0 && isSelfSigned(certificate)))
    errors.push(`${which} is signed with ${algorithm}, which is no longer safe`);
  if (index === 0 && certificate.keyUsage && !certificate.keyUsage.includes(serverAuth))
    errors.push(`${which} is not made for servers`);
  return errors;
}

function weakness(key: KeyObject): string | undefined {
  const { modulusLength: bits = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa')
    return bits < leastRsaBits ? `has a key of ${bits} bits; ${leastRsaBits} are the least` : undefined;
  if (key.asymmetricKeyType === 'ec' && goodCurves.includes(namedCurve)) return undefined;
  const type = key.asymmetricKeyType === 'ec' ? `EC ${namedCurve}` : (key.asymmetricKeyType ?? 'unknown');
  return `has a key of type ${type}, which browsers do not take; use RSA or EC on P-256 or P-384`;
}

function linkErrors(chain: Chain): string[] {
  return chain.flatMap((each, index) => {
    const next = chain[index + 1];
    if (!next || isSignedBy(each, next)) return [];
    const which = named(each, index);
    const real = chain.findIndex((other) => other !== each && isSignedBy(each, other));
    if (real >= 0) return [`the order is wrong: ${which} is signed by ${named(chain[real] ?? next, real)}`];
    return [`the chain is broken: ${which} is not signed by ${named(next, index + 1)}`];
  });
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function named(certificate: X509Certificate, index: number): string {
  const name = /^CN=(.*)$/m.exec(certificate.subject ?? '')?.[1];
  return `certificate ${index + 1}${name ? ` (${name.slice(0, 80)})` : ''}`;
}
