/**
 * Encryption of backups that leave for somebody else's machine, while they stream. Blocks of AES-256-GCM, in the STREAM
 * construction: the nonce holds the number of the block and whether it is the last, the header is bound into each. So a
 * byte that was changed, a block that was moved, dropped or doubled, a cut at any place and bytes added at the end are
 * all found. A block is handed on only after it was proven; whether all of them are there is known at the end alone.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { damaged, headerBytes, newHeader, readHeader, type StreamKey } from './sealed-header.ts';

const blockBytes = 256 * 1024;
const tagBytes = 16;

export async function* sealStream(
  key: Buffer,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const stream = newHeader(key);
  yield stream.header;
  let index = 0;
  for await (const { bytes, isLast } of blocksOf(content, blockBytes)) {
    const cipher = createCipheriv('aes-256-gcm', stream.key, nonceOf(stream, index, isLast));
    cipher.setAAD(stream.header);
    yield cipher.update(bytes);
    cipher.final();
    yield cipher.getAuthTag();
    index += 1;
  }
}

export async function* openStream(
  key: Buffer,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const parts = headerFirst(content);
  try {
    const first = await parts.next();
    const stream = readHeader(key, first.value ?? Buffer.alloc(0));
    let index = 0;
    for await (const { bytes, isLast } of blocksOf(parts, blockBytes + tagBytes)) {
      const plain = openBlock(stream, bytes, index, isLast);
      if (plain.length > 0) yield plain;
      index += 1;
    }
  } finally {
    // A header that is refused must still let go of where the bytes come from.
    await parts.return();
  }
}

function openBlock(stream: StreamKey, bytes: Buffer, index: number, isLast: boolean): Buffer {
  const end = bytes.length - tagBytes;
  if (end < 0) throw damaged(`it ends within block ${index + 1}`);
  const nonce = nonceOf(stream, index, isLast);
  const decipher = createDecipheriv('aes-256-gcm', stream.key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(stream.header);
  decipher.setAuthTag(bytes.subarray(end));
  const plain = decipher.update(bytes.subarray(0, end));
  try {
    decipher.final();
  } catch {
    throw damaged(`block ${index + 1} was altered, is out of its place, or is where the rest was cut off`);
  }
  return plain;
}

/** The header as one piece, whatever the pieces it came in; then the rest as it comes. */
async function* headerFirst(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let header: Buffer = Buffer.alloc(0);
  for await (const chunk of content) {
    if (header.length === headerBytes) {
      yield chunk;
      continue;
    }
    const missing = headerBytes - header.length;
    header = Buffer.concat([header, chunk.subarray(0, missing)]);
    if (header.length < headerBytes) continue;
    yield header;
    if (chunk.length > missing) yield chunk.subarray(missing);
  }
  if (header.length < headerBytes) yield header;
}

function nonceOf({ noncePrefix }: StreamKey, index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  noncePrefix.copy(nonce);
  // Fails past 2^32 blocks (a petabyte) instead of using a nonce again.
  nonce.writeUInt32BE(index, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

interface Block {
  /** Valid until the next block is asked for: one piece of memory serves them all. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/**
 * A stream cut into blocks of one size; the last one may be shorter or empty. A full block is held until a further byte or the end has come: only then is it
 * known whether it is the last.
 */
async function* blocksOf(
  content: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<Block, void, undefined> {
  const block = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of content) {
    for (let taken = 0; taken < chunk.length; ) {
      if (filled === size) {
        yield { bytes: block, isLast: false };
        filled = 0;
      }
      const copied = chunk.copy(block, filled, taken);
      taken += copied;
      filled += copied;
    }
  }
  yield { bytes: block.subarray(0, filled), isLast: true };
}
