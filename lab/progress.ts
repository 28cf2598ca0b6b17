/** Tells a person what takes time: a spinner where there is a terminal, one line a step elsewhere. */

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** What took no time was there already, and is not worth a line. */
const unworthyMs = 400;

export class Progress {
  readonly #out: NodeJS.WriteStream;
  readonly #running = new Map<symbol, string>();
  #timer: NodeJS.Timeout | undefined;
  #frame = 0;

  constructor(out: NodeJS.WriteStream = process.stderr) {
    this.#out = out;
  }

  async step<T>(what: string, work: () => Promise<T>): Promise<T> {
    const started = Date.now();
    const key = Symbol(what);
    this.#running.set(key, what);
    this.#spin();
    try {
      const result = await work();
      if (Date.now() - started < unworthyMs) this.#forget(key);
      else this.#finish(key, `${this.#paint('32', '✔')} ${what} ${this.#paint('2', seconds(started))}`);
      return result;
    } catch (error) {
      this.#finish(key, `${this.#paint('31', '✖')} ${what}`);
      throw error;
    }
  }

  say(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  #finish(key: symbol, line: string): void {
    this.say(line);
    this.#forget(key);
  }

  #forget(key: symbol): void {
    this.#running.delete(key);
    if (this.#running.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #spin(): void {
    if (!this.#out.isTTY || this.#timer) return;
    this.#timer = setInterval(() => {
      this.#frame = (this.#frame + 1) % frames.length;
      this.#out.write(`\r\x1b[K${frames[this.#frame]} ${[...this.#running.values()].join(', ')}`);
    }, 100);
    this.#timer.unref();
  }

  #clear(): void {
    if (this.#timer) this.#out.write('\r\x1b[K');
  }

  #paint(code: string, text: string): string {
    return this.#out.isTTY && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text;
  }
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
