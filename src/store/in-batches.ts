/**
 * Deletes in batches, each a statement or transaction of its own: no lock is held for long, no statement comes near its
 * timeout, and what was interrupted goes on next time.
 */
import { minute } from '../clock.ts';

/** The rest waits for the next run. */
export const maxRunMs = 10 * minute;

export interface Batch {
  readonly count: number;
  /** Where the next one begins, by the time that its rows are found by. What is gone need not be stepped over again. */
  readonly last: Date | null;
}

/** Until a batch finds nothing more. Returns the total. */
export async function inBatches(batch: (from: Date) => Promise<Batch>): Promise<number> {
  const end = performance.now() + maxRunMs;
  let total = 0;
  let from = new Date(0);
  do {
    const { count, last } = await batch(from);
    total += count;
    if (count === 0) break;
    from = last ?? from;
  } while (performance.now() < end);
  return total;
}
