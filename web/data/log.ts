/** The lines of a log as they come, in plain memory: whoever shows them is told once a frame. */

export interface LogLine {
  readonly at: string;
  /** The step of a deployment, or the process of an app. */
  readonly source: string;
  readonly text: string;
}

/** As many as are read before the page may do something else. */
const linesAtOnce = 500;

export class Log {
  readonly lines: LogLine[] = [];
  readonly #readers = new Set<() => void>();
  #isDue = false;

  /** To be waited for: a stream that is there already would be read to its end before anything is shown. */
  async add(line: LogLine): Promise<void> {
    this.lines.push(line);
    if (!this.#isDue) {
      this.#isDue = true;
      requestAnimationFrame(() => {
        this.#isDue = false;
        for (const read of this.#readers) read();
      });
    }
    // Not a frame: there are none where nobody looks.
    if (this.lines.length % linesAtOnce === 0) await new Promise((resolve) => setTimeout(resolve));
  }

  onLines(read: () => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}
