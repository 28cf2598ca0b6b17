/**
 * How long this thread works in one go, by the processor time of its own: what others would notice of it. Other programs
 * slow the clock, and do not count here.
 */
export class BusyLoop {
  #longestMs = 0;
  #last = usedMs();
  readonly #beat = setInterval(() => {
    const now = usedMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#last);
    this.#last = now;
  }, 5).unref();

  /** The most since it was asked last. */
  longestMs(): number {
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#beat);
  }
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
