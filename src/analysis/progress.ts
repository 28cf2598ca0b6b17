/** How far an analysis is: whether its time is over, and what it looks at, for whoever ends it from outside. */
export class Progress {
  /** A file, or what is looked for where. Called very often. */
  readonly note: (what: string) => void;
  readonly #timeMs: number;
  readonly #started = process.threadCpuUsage();

  constructor(timeMs: number, note: (what: string) => void = () => undefined) {
    this.note = note;
    this.#timeMs = timeMs;
  }

  get isOver(): boolean {
    const { user, system } = process.threadCpuUsage(this.#started);
    return (user + system) / 1_000 > this.#timeMs;
  }
}
