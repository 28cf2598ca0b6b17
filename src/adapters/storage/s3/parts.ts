/** Content of unknown length, cut into the parts of an upload, each with its checksums, in memory that is used again. */
import { createHash } from 'node:crypto';

const MiB = 1024 * 1024;
export const firstPartBytes = 8 * MiB;
export const mostParts = 10_000;
const mostPartBytes = 5 * 1024 * MiB;
/**
 * So many parts are of one size, which some stores want of all of them; it is enough for 33 GB. Then each is this share
 * of what was sent before: 10,000 parts hold 5 TB that way, and memory is spent only by those who have so much.
 */
const evenParts = 4_000;
const share = 1_150;

export interface Part {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: Buffer;
  /** Hexadecimal. */
  readonly md5: string;
  readonly sha256: string;
  readonly isLast: boolean;
  /** The bytes are not needed any more; their memory serves a later part. */
  release(): void;
}

export function partBytes(number: number, sentBytes: number): number {
  if (number <= evenParts) return firstPartBytes;
  const wanted = Math.ceil(sentBytes / share / MiB) * MiB;
  return Math.min(mostPartBytes, Math.max(firstPartBytes, wanted));
}

export async function* partsOf(content: AsyncIterable<Buffer>): AsyncGenerator<Part, void, undefined> {
  const free: Buffer[] = [];
  let sent = 0;
  let gathered = gather(1, 0, free);
  for await (const chunk of content) {
    for (let rest = chunk; rest.length > 0; ) {
      if (gathered.isFull()) {
        sent += gathered.size;
        yield gathered.end(false);
        gathered = gather(gathered.number + 1, sent, free);
      }
      rest = gathered.take(rest);
    }
  }
  yield gathered.end(true);
}

function gather(number: number, sent: number, free: Buffer[]) {
  const size = partBytes(number, sent);
  const room = roomFor(size, free);
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let filled = 0;
  return {
    number,
    size,
    isFull: () => filled === size,
    /** Copies what fits, and gives the rest. Hashed bit by bit, so that no part holds up everyone at its end. */
    take(chunk: Buffer): Buffer {
      const copied = chunk.copy(room, filled);
      const taken = room.subarray(filled, filled + copied);
      md5.update(taken);
      sha256.update(taken);
      filled += copied;
      return chunk.subarray(copied);
    },
    end: (isLast: boolean): Part => ({
      number,
      bytes: room.subarray(0, filled),
      md5: md5.digest('hex'),
      sha256: sha256.digest('hex'),
      isLast,
      release: () => free.push(room),
    }),
  };
}

/** Smaller ones that were kept are let go: parts only grow. */
function roomFor(size: number, free: Buffer[]): Buffer {
  for (let room = free.pop(); room !== undefined; room = free.pop())
    if (room.length >= size) return room.subarray(0, size);
  return Buffer.allocUnsafeSlow(size);
}
