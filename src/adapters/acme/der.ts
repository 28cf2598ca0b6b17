/** The little of ASN.1's encoding that a signing request needs, and that tells a certificate's own name for renewal. */

const tagged = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
};

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...parts: readonly Uint8Array[]) => tagged(0x30, ...parts);
export const set = (...parts: readonly Uint8Array[]) => tagged(0x31, ...parts);
export const octets = (content: Uint8Array) => tagged(0x04, content);
export const bits = (content: Uint8Array) => tagged(0x03, Buffer.from([0]), content);
export const zero = Buffer.from([0x02, 0x01, 0x00]);
export const none = Buffer.from([0x05, 0x00]);
/** `[number]` with parts inside. */
export const context = (number: number, ...parts: readonly Uint8Array[]) => tagged(0xa0 | number, ...parts);
/** `[number]` in the place of the type that stands there. */
export const implicit = (number: number, content: Uint8Array) => tagged(0x80 | number, content);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const each of rest) {
    const digits = [each & 0x7f];
    for (let left = each >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

export interface Part {
  readonly tag: number;
  readonly content: Buffer;
}

/** What stands one after the other in a content; fails where it is cut off. */
export function partsOf(content: Buffer): Part[] {
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
