/** The lines of a log as they come, in plain memory: whoever shows them is told of each, and draws them when it can. */

export interface LogLine {
  /** The step of a deployment, or the process of an app. */
  readonly source: string;
  readonly text: string;
}

/** As many as are read, and as are looked through, before the page may do something else. */
const linesAtOnce = 500;
const linesInSlice = 5_000;
/** An app writes for as long as someone looks: beyond this, what came first is let go of. */
const mostLines = 100_000;
const linesLetGo = 10_000;

/** Not a frame: there are none where nobody looks. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

export class Log {
  readonly #readers = new Set<() => void>();
  #lines: LogLine[] = [];
  #first = 0;

  /** The number of the first line that is kept; lines are counted from the beginning. */
  get first(): number {
    return this.#first;
  }

  get end(): number {
    return this.#first + this.#lines.length;
  }

  at(number: number): LogLine | undefined {
    return this.#lines[number - this.#first];
  }

  /** To be waited for: a stream that is there already would be read to its end before anything is shown. */
  async add(line: LogLine): Promise<void> {
    this.#lines.push(line);
    if (this.#lines.length > mostLines + linesLetGo) {
      this.#lines = this.#lines.slice(linesLetGo);
      this.#first += linesLetGo;
    }
    for (const read of this.#readers) read();
    if (this.end % linesAtOnce === 0) await nextTask();
  }

  /** What there is now, from the first line on. */
  async *slices(): AsyncGenerator<{ readonly from: number; readonly lines: readonly LogLine[] }> {
    const [lines, first] = [this.#lines.slice(), this.#first];
    for (let from = 0; from < lines.length; from += linesInSlice) {
      if (from > 0) await nextTask();
      yield { from: first + from, lines: lines.slice(from, from + linesInSlice) };
    }
  }

  /** The number of the last that is such a one, or -1. */
  findLast(isWanted: (line: LogLine) => boolean): number {
    const found = this.#lines.findLastIndex(isWanted);
    return found === -1 ? -1 : this.#first + found;
  }

  onLines(read: () => void): () => void {
    this.#readers.add(read);
    return () => this.#readers.delete(read);
  }
}
