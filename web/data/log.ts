/** The lines of a log as they come, in plain memory: whoever shows them is told once a frame. */

export interface LogLine {
  readonly at: string;
  /** The step of a deployment, or the process of an app. */
  readonly source: string;
  readonly text: string;
}

export class Log {
  readonly lines: LogLine[] = [];
  readonly #readers = new Set<() => void>();
  #isDue = false;

  add(line: LogLine): void {
    this.lines.push(line);
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      for (const read of this.#readers) read();
    });
  }

  onLines(read: () => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}
