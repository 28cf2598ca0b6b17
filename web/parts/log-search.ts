/** Finds text in the lines of a log and marks it, without a change to the page: the browser draws the marks. */

import { textOf } from '../data/ansi.ts';
import type { Log } from '../data/log.ts';
import type { LogPainter } from './log-painter.ts';

const mostMarked = 2_000;

export interface Found {
  readonly at: number;
  readonly of: number;
}

export class LogSearch {
  readonly #log: Log;
  readonly #painter: LogPainter;
  readonly #tell: (found: Found | undefined) => void;
  #ranges: readonly Range[] = [];
  #at = 0;
  #looks = 0;

  constructor(log: Log, painter: LogPainter, tell: (found: Found | undefined) => void) {
    this.#log = log;
    this.#painter = painter;
    this.#tell = tell;
  }

  async look(wanted: string): Promise<void> {
    this.clear();
    const own = this.#looks;
    if (wanted === '') return this.#tell(undefined);
    const pattern = new RegExp(wanted.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'giu');
    const ranges: Range[] = [];
    // Through what is in memory: to ask the page for the text of 100,000 lines holds it up for longer than people bear.
    for await (const { from, lines } of this.#log.slices()) {
      // What is wanted now is something else.
      if (this.#looks !== own) return;
      const places = lines.flatMap(({ text }, line) =>
        Array.from(textOf(text).matchAll(pattern), ({ index, 0: { length } }) => ({
          at: from + line,
          from: index,
          to: index + length,
        })),
      );
      ranges.push(...this.#painter.rangesOf(places.slice(0, mostMarked - ranges.length)));
      if (ranges.length === mostMarked) break;
    }
    this.#ranges = ranges;
    CSS.highlights?.set('log-found', new Highlight(...ranges));
    this.#show(0);
  }

  step(by: number): void {
    if (this.#ranges.length > 0) this.#show((this.#at + by + this.#ranges.length) % this.#ranges.length);
  }

  clear(): void {
    this.#looks += 1;
    this.#ranges = [];
    CSS.highlights?.delete('log-found');
    CSS.highlights?.delete('log-current');
  }

  #show(at: number): void {
    this.#at = at;
    const range = this.#ranges[at];
    if (range) {
      CSS.highlights?.set('log-current', new Highlight(range));
      this.#painter.show(range);
    }
    this.#tell({ at, of: this.#ranges.length });
  }
}
