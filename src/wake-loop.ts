/**
 * Work that is done when it is woken and when the time that it named has come, never twice at once. Who wakes it while it
 * is at work gets another round, so that nothing that was stored before the call is overlooked.
 */
export class WakeLoop {
  readonly #work: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #isStarted = false;
  #isStopped = false;

  /** `work` does not throw; it returns after how many milliseconds it wants to be woken in any case. */
  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  wake(): void {
    this.#again = true;
    if (!this.#isStarted || this.#isStopped || this.#running) return;
    this.#running = this.#rounds().finally(() => {
      this.#running = undefined;
      if (this.#again) this.wake();
    });
  }

  /** Waits for the round that is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #rounds(): Promise<void> {
    let waitMs = 0;
    while (this.#again && !this.#isStopped) {
      this.#again = false;
      waitMs = await this.#work();
    }
    clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = setTimeout(() => this.wake(), waitMs).unref();
  }
}
