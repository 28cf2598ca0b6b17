/** Reading bytes of a message one after the other, never past their end. */
export class Unreadable extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'Unreadable';
  }
}

const longestName = 255;
/** A name has fewer labels than this, and each needs one at most. */
const mostPointers = 127;

export class Reader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  u8(): number {
    return this.#bytes.readUInt8(this.#step(1));
  }

  u16(): number {
    return this.#bytes.readUInt16BE(this.#step(2));
  }

  u32(): number {
    return this.#bytes.readUInt32BE(this.#step(4));
  }

  bytes(count: number): Buffer {
    const from = this.#step(count);
    return this.#bytes.subarray(from, from + count);
  }

  rest(): Buffer {
    return this.bytes(this.#end - this.#at);
  }

  /** The next bytes as a reader of their own, which still sees what names point back to. */
  part(count: number): Reader {
    const from = this.#step(count);
    return new Reader(this.#bytes, from, from + count);
  }

  /**
   * In lower case, without the last dot. A pointer leads to before where its own name began, so that every name
   * ends; a dot or a byte that is no plain character within a label is escaped, so that no two names look alike.
   */
  name(): string {
    const labels: string[] = [];
    let [at, first, size] = [this.#at, this.#at, 1];
    let after: number | undefined;
    let pointers = 0;
    for (;;) {
      const end = after === undefined ? this.#end : this.#bytes.length;
      if (at >= end) throw new Unreadable('a name goes past the end');
      const length = this.#bytes.readUInt8(at);
      if (length >= 0xc0) {
        if (at + 2 > end) throw new Unreadable('a name goes past the end');
        const target = this.#bytes.readUInt16BE(at) & 0x3fff;
        if (target >= first) throw new Unreadable('a name points forward or to itself');
        pointers += 1;
        if (pointers > mostPointers) throw new Unreadable('a name has too many pointers');
        after ??= at + 2;
        at = target;
        first = target;
        continue;
      }
      if (length > 63) throw new Unreadable('a name has a label of an unknown kind');
      at += 1;
      if (length === 0) break;
      if (at + length > end) throw new Unreadable('a name goes past the end');
      size += length + 1;
      if (size > longestName) throw new Unreadable('a name is too long');
      labels.push(escaped(this.#bytes.toString('latin1', at, at + length)));
      at += length;
    }
    this.#at = after ?? at;
    return labels.join('.');
  }

  #step(count: number): number {
    const from = this.#at;
    if (from + count > this.#end) throw new Unreadable('it ends too early');
    this.#at = from + count;
    return from;
  }
}

function escaped(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9_*-]/g, (byte) => `\\${byte.charCodeAt(0).toString().padStart(3, '0')}`);
}
