/** A QR code (ISO/IEC 18004) of a text: bytes, error correction M, mask 0, up to version 20. */

/** By version, from 1 on: how many bytes of correction a block has, and into how many blocks the data goes. */
const correctionOf = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blocksOf = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
/** Level M and mask 0, with their own correction: what every reader looks at first. */
const format = 0b101010000010010;

export type Qr = readonly (readonly boolean[])[];

/** None where the text is too long. */
export function qrOf(text: string): Qr | undefined {
  const bytes = new TextEncoder().encode(text);
  const at = correctionOf.findIndex((_, index) => roomOf(index + 1) >= bytes.length + (index < 9 ? 2 : 3));
  if (at === -1) return undefined;
  const version = at + 1;
  return drawn(interleaved(framed(bytes, version), version), version);
}

/** All bytes of a version, with those of correction. */
function wholeOf(version: number): number {
  const marks = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const patterns = marks === 0 ? 0 : (25 * marks - 10) * marks - 55;
  return Math.floor(((16 * version + 128) * version + 64 - patterns - (version < 7 ? 0 : 36)) / 8);
}

function roomOf(version: number): number {
  return wholeOf(version) - (correctionOf[version - 1] ?? 0) * (blocksOf[version - 1] ?? 0);
}

/** What the bytes are and how many, then the bytes, then filling. */
function framed(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const add = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at -= 1) bits.push((value >>> at) & 1);
  };
  add(0b0100, 4);
  add(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) add(byte, 8);
  add(0, 4);
  const words: number[] = [];
  for (let at = 0; at < bits.length; at += 8)
    words.push(bits.slice(at, at + 8).reduce((word, bit) => word * 2 + bit, 0));
  for (let fill = 0xec; words.length < roomOf(version); fill ^= 0xec ^ 0x11) words.push(fill);
  return words;
}

/** In the field of 256 that QR codes count in. */
function times(one: number, other: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((other >>> bit) & 1) * one;
  }
  return product;
}

/** Reed and Solomon's remainder. */
function correction(data: readonly number[], length: number): number[] {
  const divisor = [...Array<number>(length - 1).fill(0), 1];
  for (let root = 1, at = 0; at < length; at += 1, root = times(root, 2))
    for (let each = 0; each < length; each += 1)
      divisor[each] = times(divisor[each] ?? 0, root) ^ (divisor[each + 1] ?? 0);
  const rest = Array<number>(length).fill(0);
  for (const word of data) {
    const factor = word ^ (rest.shift() ?? 0);
    rest.push(0);
    for (const [at, part] of divisor.entries()) rest[at] = (rest[at] ?? 0) ^ times(part, factor);
  }
  return rest;
}

/** The blocks woven together, so that a stain costs each of them a little. */
function interleaved(words: readonly number[], version: number): number[] {
  const [count, length] = [blocksOf[version - 1] ?? 1, correctionOf[version - 1] ?? 0];
  const short = Math.floor(words.length / count);
  const longs = words.length % count;
  let from = 0;
  const blocks = Array.from({ length: count }, (_, at) => {
    const data = words.slice(from, from + short + (at < count - longs ? 0 : 1));
    from += data.length;
    return { data, check: correction(data, length) };
  });
  const woven: number[] = [];
  for (let at = 0; at <= short; at += 1)
    for (const { data } of blocks) if (at < data.length) woven.push(data[at] ?? 0);
  for (let at = 0; at < length; at += 1) for (const { check } of blocks) woven.push(check[at] ?? 0);
  return woven;
}

function drawn(words: readonly number[], version: number): Qr {
  const size = 17 + 4 * version;
  const dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const isFixed = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const fix = (x: number, y: number, isDark: boolean) => {
    const [row, fixed] = [dark[y], isFixed[y]];
    if (!row || !fixed || x < 0 || x >= size) return;
    row[x] = isDark;
    fixed[x] = true;
  };
  const square = (x: number, y: number, reach: number, light: readonly number[]) => {
    for (let up = -reach; up <= reach; up += 1)
      for (let right = -reach; right <= reach; right += 1)
        fix(x + right, y + up, !light.includes(Math.max(Math.abs(up), Math.abs(right))));
  };
  for (let at = 0; at < size; at += 1) {
    fix(6, at, at % 2 === 0);
    fix(at, 6, at % 2 === 0);
  }
  const marks = marksOf(version, size);
  const last = marks.at(-1);
  for (const x of marks)
    for (const y of marks) {
      const isCorner = (x === 6 && (y === 6 || y === last)) || (y === 6 && x === last);
      if (!isCorner) square(x, y, 2, [1]);
    }
  square(3, 3, 4, [2, 4]);
  square(size - 4, 3, 4, [2, 4]);
  square(3, size - 4, 4, [2, 4]);
  for (let at = 0; at < 15; at += 1) {
    const isDark = ((format >>> at) & 1) === 1;
    // Once around the first corner, past the line of timing, and once along the other two.
    fix(at < 8 ? 8 : at === 8 ? 7 : 14 - at, at < 6 ? at : at < 8 ? at + 1 : 8, isDark);
    fix(at < 8 ? size - 1 - at : 8, at < 8 ? 8 : size - 15 + at, isDark);
  }
  fix(8, size - 8, true);
  if (version >= 7) {
    let rest = version;
    for (let at = 0; at < 12; at += 1) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const told = (version << 12) | rest;
    for (let at = 0; at < 18; at += 1) {
      const [far, near] = [size - 11 + (at % 3), Math.floor(at / 3)];
      fix(far, near, ((told >>> at) & 1) === 1);
      fix(near, far, ((told >>> at) & 1) === 1);
    }
  }
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= right === 8 ? 3 : 2)
    for (let step = 0; step < size; step += 1)
      for (const x of [right, right - 1]) {
        const isUp = ((right > 6 ? right : right - 1) & 2) === ((size - 1) & 2);
        const y = isUp ? size - 1 - step : step;
        const row = dark[y];
        if (!row || isFixed[y]?.[x]) continue;
        const isSet = (((words[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1) === 1;
        row[x] = isSet !== ((x + y) % 2 === 0);
        bit += 1;
      }
  return dark;
}

/** Where the small squares stand that a bent code is straightened by. */
function marksOf(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - step * (count - 2 - at))];
}
