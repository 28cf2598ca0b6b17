/** For a long loop over foreign data in the service's own process: everyone else gets a turn every few milliseconds. */
import { setImmediate } from 'node:timers/promises';

const turnMs = 8;

export class Turns {
  #started = performance.now();

  /** Undefined, and nothing to wait for, while the turn goes on: waiting for nothing adds up, too. */
  next(): Promise<void> | undefined {
    if (performance.now() - this.#started < turnMs) return undefined;
    return setImmediate().then(() => {
      this.#started = performance.now();
    });
  }
}
