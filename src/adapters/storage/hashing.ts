/** Hands bytes on as they come, and says at their end how many there were and what their checksum is. */
import { createHash } from 'node:crypto';
import type { Stored } from './storage.ts';

/** `onEnd` is called once, after the last byte was taken; never where the content breaks off. */
export async function* hashing(
  content: AsyncIterable<Buffer>,
  onEnd: (seen: Stored) => void,
): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  onEnd({ bytes, sha256: hash.digest('hex') });
}
