/** The bytes of Docker's log answers, taken apart: which stream, when, and what was printed. */

export interface LogPiece {
  readonly stream: 'stdout' | 'stderr';
  /** As Docker writes it, to the nanosecond. */
  readonly at: string;
  /** A line with its end, or a part of a long one without. */
  readonly bytes: Buffer;
}

const frameHead = 8;
const headEnd = '\r\n\r\n';
const mostComplaint = 2_000;

/** Bytes may be cut anywhere; what is not whole yet waits for the rest. */
export class LogFrames {
  #rest: Buffer = Buffer.alloc(0);
  #status: number | undefined;

  /** Without a head where the answer was taken apart before. */
  constructor(status?: number) {
    this.#status = status;
  }

  /** There is no such container any more. */
  get isGone(): boolean {
    return this.#status === 404;
  }

  /** What Docker said instead of the output; undefined as long as it is output. */
  get complaint(): string | undefined {
    if (this.#status === 200) return undefined;
    return this.#rest.subarray(0, mostComplaint).toString('utf8').trim();
  }

  push(chunk: Buffer): LogPiece[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (this.#status === undefined) this.#readHead();
    return this.#status === 200 ? this.#pieces() : [];
  }

  #readHead(): void {
    const end = this.#rest.indexOf(headEnd);
    if (end === -1) return;
    const head = this.#rest.subarray(0, end).toString('latin1');
    this.#status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
    this.#rest = this.#rest.subarray(end + headEnd.length);
  }

  /** A frame: the stream, three zeros, its length, its bytes. */
  #pieces(): LogPiece[] {
    const pieces: LogPiece[] = [];
    let at = 0;
    while (at + frameHead <= this.#rest.length) {
      const end = at + frameHead + this.#rest.readUInt32BE(at + 4);
      if (end > this.#rest.length) break;
      const content = this.#rest.subarray(at + frameHead, end);
      const gap = content.indexOf(' ');
      const stream = this.#rest[at] === 2 ? 'stderr' : 'stdout';
      pieces.push({
        stream,
        at: content.subarray(0, Math.max(0, gap)).toString('latin1'),
        bytes: content.subarray(gap + 1),
      });
      at = end;
    }
    this.#rest = Buffer.from(this.#rest.subarray(at));
    return pieces;
  }
}

/** For Docker's `since`: the first instant after this one, so that nothing is told twice and nothing left out. */
export function justAfter(at: string): string | undefined {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(at);
  const seconds = Date.parse(`${found?.[1]}Z`) / 1000;
  if (!found || Number.isNaN(seconds)) return undefined;
  const nanoseconds = BigInt(seconds) * 1_000_000_000n + BigInt((found[2] ?? '').padEnd(9, '0')) + 1n;
  const digits = String(nanoseconds).padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
