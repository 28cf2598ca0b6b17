/**
 * Much is deleted in small pieces, each a statement or transaction of its own: no lock is held for long, no statement
 * comes near its time limit, and what was interrupted goes on next time.
 */
import { minute } from '../clock.ts';

/** What is left after that waits for the next run; by then others had their turn. */
export const longestRunMs = 10 * minute;

export interface Batch {
  readonly count: number;
  /** Where the next one begins, by the time that its rows are found by. What is gone need not be stepped over again. */
  readonly last: Date | null;
}

/** Until a piece finds nothing more. Answers how many there were. */
export async function inBatches(batch: (from: Date) => Promise<Batch>): Promise<number> {
  const end = performance.now() + longestRunMs;
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
