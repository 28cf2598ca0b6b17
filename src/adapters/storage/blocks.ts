/** A stream cut into blocks of one size. The last one is told from the others, and may be shorter or empty. */

export interface Block {
  /** Valid until the next block is asked for: one piece of memory serves them all. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/** A full block is held until a further byte or the end has come: only then is it known whether it is the last. */
export async function* blocksOf(
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
