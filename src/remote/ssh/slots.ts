/**
 * Who may open a channel now. Owners take turns, so that one with a thousand commands does not keep the others waiting.
 * What runs for long may not take every channel: two stay for short commands, so that work goes on beside open streams.
 */
export type ChannelUse = 'command' | 'stream';

interface Waiter {
  readonly use: ChannelUse;
  grant(): void;
}

export class Slots {
  #most: number;
  #taken = 0;
  #streams = 0;
  /** The order of the owners is the order of their turns. */
  readonly #waiting = new Map<object, Waiter[]>();

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Resolves with what gives it back. The signal ends the waiting. */
  take(owner: object, use: ChannelUse, signal: AbortSignal): Promise<() => void> {
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const leave = () => {
      this.#remove(owner, waiter);
      reject(signal.reason);
    };
    const waiter: Waiter = {
      use,
      grant: () => {
        signal.removeEventListener('abort', leave);
        resolve(this.#occupy(use));
      },
    };
    if (signal.aborted) return Promise.reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.set(owner, [...(this.#waiting.get(owner) ?? []), waiter]);
    this.#next();
    return promise;
  }

  /** The server takes fewer than we thought: no more than are open now, but one always. */
  shrink(): void {
    this.#most = Math.max(1, this.#taken - 1);
  }

  grow(most: number): void {
    this.#most = most;
    this.#next();
  }

  #occupy(use: ChannelUse): () => void {
    this.#taken += 1;
    if (use === 'stream') this.#streams += 1;
    return () => {
      this.#taken -= 1;
      if (use === 'stream') this.#streams -= 1;
      this.#next();
    };
  }

  #next(): void {
    while (this.#taken < this.#most) {
      const found = this.#whoseTurn();
      if (!found) return;
      const [owner, waiter] = found;
      this.#remove(owner, waiter);
      const rest = this.#waiting.get(owner);
      if (rest) {
        this.#waiting.delete(owner);
        this.#waiting.set(owner, rest);
      }
      waiter.grant();
    }
  }

  #whoseTurn(): [object, Waiter] | undefined {
    const mayStream = this.#streams < Math.max(1, this.#most - 2);
    for (const [owner, waiters] of this.#waiting) {
      const waiter = waiters.find(({ use }) => use === 'command' || mayStream);
      if (waiter) return [owner, waiter];
    }
    return undefined;
  }

  #remove(owner: object, waiter: Waiter): void {
    const rest = (this.#waiting.get(owner) ?? []).filter((each) => each !== waiter);
    if (rest.length > 0) this.#waiting.set(owner, rest);
    else this.#waiting.delete(owner);
  }
}
