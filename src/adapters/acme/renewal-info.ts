/** When the authority itself suggests to renew (RFC 9773), as before it revokes what it has issued wrongly. */
import { X509Certificate } from 'node:crypto';
import Type from 'typebox';
import { nonsense } from './acme-faults.ts';
import type { Authority } from './authority.ts';
import { type Part, partsOf } from './der.ts';

export interface RenewalInfo {
  readonly start: Date;
  readonly end: Date;
  readonly explanationUrl: string | undefined;
  /** When to ask again. */
  readonly retryAfterSeconds: number | undefined;
}

const Suggestion = Type.Object({
  suggestedWindow: Type.Object({ start: Type.String(), end: Type.String() }),
  explanationURL: Type.Optional(Type.String()),
});

const authorityKeyIdentifier = Buffer.from('551d23', 'hex');

/** `undefined` where the authority makes no suggestions, or the certificate has no name for them. */
export async function renewalInfoOf(
  authority: Authority,
  certificate: string,
  signal: AbortSignal,
): Promise<RenewalInfo | undefined> {
  const { renewalInfo } = await authority.directory(signal);
  const name = renewalName(certificate);
  if (renewalInfo === undefined || name === undefined) return undefined;
  const answer = await authority.get(`${renewalInfo}/${name}`, signal);
  const { suggestedWindow, explanationURL } = authority.shaped(Suggestion, answer);
  const [start, end] = [new Date(suggestedWindow.start), new Date(suggestedWindow.end)];
  if (!(start.getTime() < end.getTime())) throw nonsense(authority.label, 'its window to renew in is none');
  const retryAfterSeconds = authority.retryAfter(answer);
  return { start, end, explanationUrl: addressOrNone(explanationURL), retryAfterSeconds };
}

/** The key that issued it, and its number there. */
export function renewalName(certificate: string): string | undefined {
  const inside = ({ content }: Part) => partsOf(content);
  const [whole] = partsOf(new X509Certificate(certificate).raw);
  const [body] = whole ? inside(whole) : [];
  const fields = body ? inside(body) : [];
  // The version comes first, in brackets, in all but the oldest certificates.
  const serial = fields.find(({ tag }) => tag === 0x02);
  const extensions = fields.find(({ tag }) => tag === 0xa3);
  const all = extensions ? inside(extensions).flatMap(inside).map(inside) : [];
  const found = all.find(([id]) => id?.content.equals(authorityKeyIdentifier))?.at(-1);
  const keyId =
    found &&
    inside(found)
      .flatMap(inside)
      .find(({ tag }) => tag === 0x80);
  if (!serial || !keyId) return undefined;
  return `${keyId.content.toString('base64url')}.${serial.content.toString('base64url')}`;
}

/** For a person to open: of the web, or left out. */
function addressOrNone(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? '');
  return url && ['http:', 'https:'].includes(url.protocol) ? url.href : undefined;
}
