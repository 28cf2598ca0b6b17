/**
 * A certificate that someone brings, looked at before it is taken: everything that would make browsers or the proxy
 * refuse it is told at once, for the field that it is about. What is given back is made anew from what was read, so
 * that nothing else that was pasted along is stored.
 */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { Fault, type FieldError } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { chainErrors, placeOfLeaf } from './check-chain.ts';
import { pemBlocks, readKey } from './pem.ts';
import { type CertificateFacts, covers, dnsNamesOf, factsOf, readAll } from './read-certificate.ts';

export interface CustomCertificate {
  readonly certificate: string;
  readonly privateKey: Secret;
  readonly hostname: string;
  readonly now: Date;
}

export interface CheckedCertificate {
  /** The chain, the leaf first. */
  readonly certificate: string;
  /** As PKCS #8. */
  readonly privateKey: Secret;
  readonly facts: CertificateFacts;
}

const mostCertificateBytes = 64 * 1024;
const mostKeyBytes = 32 * 1024;
const mostCertificates = 10;
const mostNamesShown = 10;

const ofCertificate = (message: string): FieldError => ({ path: 'ssl.certificate', message });
const ofKey = (message: string): FieldError => ({ path: 'ssl.privateKey', message });

export function checkCustom(custom: CustomCertificate): CheckedCertificate {
  const { chain, errors: chainProblems } = readChain(custom.certificate);
  const { key, errors: keyProblems } = readSizedKey(custom.privateKey);
  const [leaf, ...others] = chain;
  const errors = [...chainProblems, ...keyProblems];
  if (leaf) errors.push(...problemsOf([leaf, ...others], key, custom));
  if (errors.length > 0 || !leaf || !key) throw invalid(errors);
  return {
    certificate: chain.map(String).join(''),
    privateKey: new Secret(key.export({ type: 'pkcs8', format: 'pem' }).toString()),
    facts: factsOf(leaf),
  };
}

function readChain(text: string): { chain: X509Certificate[]; errors: FieldError[] } {
  const failed = (message: string) => ({ chain: [], errors: [ofCertificate(message)] });
  if (Buffer.byteLength(text) > mostCertificateBytes)
    return failed(`is larger than ${mostCertificateBytes} bytes`);
  if (pemBlocks(text).some(({ label }) => label.endsWith('PRIVATE KEY')))
    return failed('holds a private key, which belongs into ssl.privateKey alone');
  const all = readAll(text);
  const unreadable = all.indexOf(undefined);
  if (all.length === 0) return failed('is not a certificate in PEM (-----BEGIN CERTIFICATE-----)');
  if (all.length > mostCertificates) return failed(`holds more than ${mostCertificates} certificates`);
  if (unreadable >= 0) return failed(`certificate ${unreadable + 1} cannot be read`);
  return { chain: all.filter((each) => each !== undefined), errors: [] };
}

function readSizedKey(pem: Secret): { key: KeyObject | undefined; errors: FieldError[] } {
  const isTooLarge = Buffer.byteLength(pem.reveal()) > mostKeyBytes;
  const read = isTooLarge ? { error: `is larger than ${mostKeyBytes} bytes` } : readKey(pem);
  return 'key' in read ? { key: read.key, errors: [] } : { key: undefined, errors: [ofKey(read.error)] };
}

function problemsOf(
  chain: readonly [X509Certificate, ...X509Certificate[]],
  key: KeyObject | undefined,
  { hostname, now }: CustomCertificate,
): FieldError[] {
  const place = placeOfLeaf(chain, key);
  // The rest would be told of the wrong certificate.
  if (place > 1)
    return [ofCertificate(`the certificate of the server comes at place ${place}, and has to come first`)];
  const [leaf] = chain;
  const names = dnsNamesOf(leaf);
  const errors = chainErrors(chain, now).map(ofCertificate);
  if (!covers(names, hostname)) errors.push(ofCertificate(`is for ${listed(names)}, not for ${hostname}`));
  if (key && !leaf.checkPrivateKey(key)) errors.push(ofKey('is not the key of the certificate'));
  return errors;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'no DNS name (a common name alone does not count)';
  const rest = names.length - mostNamesShown;
  return names.slice(0, mostNamesShown).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function invalid(errors: readonly FieldError[]): Fault {
  return new Fault('certificate_invalid', 'The certificate or its key cannot be used.', {
    hint: 'Give the certificate of the server first, then each that signed the one before, and its key without a passphrase.',
    evidence: errors.map(({ path, message }) => `${path} ${message}`).join('; '),
    errors,
  });
}
