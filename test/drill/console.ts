/** The server's console for many at once: nobody uses it while the server goes down, or half of it would live on. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from '../faults/ground.ts';
import { until } from '../support/until.ts';

export class Console {
  readonly #ground: Ground;
  #busy = 0;
  #isClosed = false;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  async sh(script: string): Promise<string> {
    await until(() => !this.#isClosed || undefined, 'the console to be free', 600_000);
    this.#busy += 1;
    try {
      return await this.#ground.sh(script);
    } finally {
      this.#busy -= 1;
    }
  }

  /** For what may meet a Docker that is being started again. */
  async steadily(script: string): Promise<string> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      try {
        return await this.sh(script);
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await sleep(500);
      }
    }
  }

  async closedWhile(work: () => Promise<void>): Promise<void> {
    this.#isClosed = true;
    try {
      await until(() => this.#busy === 0 || undefined, 'the console to be left');
      await work();
    } finally {
      this.#isClosed = false;
    }
  }
}
