/** The name that a certificate has for renewal (RFC 9773): the key that issued it, and its number there. */
import { X509Certificate } from 'node:crypto';

const authorityKeyIdentifier = Buffer.from('551d23', 'hex');

/** `undefined` where the certificate does not name the key that issued it. */
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

interface Part {
  readonly tag: number;
  readonly content: Buffer;
}

/** What stands one after the other in a content; fails where it is cut off. */
function partsOf(content: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < content.length; ) {
    const tag = content.readUInt8(at);
    const short = content.readUInt8(at + 1);
    const count = short < 0x80 ? 0 : short & 0x7f;
    const length = count === 0 ? short : content.readUIntBE(at + 2, count);
    const from = at + 2 + count;
    if (from + length > content.length) throw new RangeError('the encoding is cut off');
    parts.push({ tag, content: content.subarray(from, from + length) });
    at = from + length;
  }
  return parts;
}
