/**
 * Keeps a long look at a large repository from holding up the service: it gives the event loop a turn every few
 * milliseconds, and knows when the time is over.
 */
import { setImmediate } from 'node:timers/promises';

const turnMs = 8;

export class Pace {
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  #turnStarted = performance.now();

  constructor(timeMs: number, signal: AbortSignal) {
    this.#signal = signal;
    this.#deadline = performance.now() + timeMs;
  }

  get isOver(): boolean {
    return performance.now() > this.#deadline;
  }

  get leftMs(): number {
    return Math.max(0, this.#deadline - performance.now());
  }

  /** To be asked first in a loop of very many turns, where even waiting for nothing would add up. */
  get isTurnOver(): boolean {
    return performance.now() - this.#turnStarted >= turnMs;
  }

  /** Cheap enough for every turn of a loop. Throws when the work was cancelled. */
  async yield(): Promise<void> {
    if (!this.isTurnOver) return;
    await setImmediate();
    this.#signal.throwIfAborted();
    this.#turnStarted = performance.now();
  }
}
