/** Finds text in the lines of a log and marks it, without a change to the page: the browser draws the marks. */

import { textOf } from '../data/ansi.ts';
import type { Log } from '../data/log.ts';

const mostMarked = 2_000;

export interface Found {
  readonly at: number;
  readonly of: number;
}

export class LogSearch {
  readonly #log: Log;
  readonly #rowOf: (at: number) => Element | undefined;
  #ranges: Range[] = [];
  #at = 0;

  /** `rowOf` is where a line stands in the page, once it does. */
  constructor(log: Log, rowOf: (at: number) => Element | undefined) {
    this.#log = log;
    this.#rowOf = rowOf;
  }

  look(wanted: string): Found | undefined {
    this.clear();
    if (wanted === '') return undefined;
    const needle = wanted.toLowerCase();
    // Through what is in memory: to ask the page for the text of 100,000 lines holds it up for longer than people bear.
    for (const [at, { text }] of this.#log.lines.entries()) {
      if (this.#ranges.length >= mostMarked) break;
      const row = textOf(text).toLowerCase().includes(needle) ? this.#rowOf(at) : undefined;
      if (row) this.#ranges.push(...rangesIn(row, needle));
    }
    CSS.highlights?.set('log-found', new Highlight(...this.#ranges));
    this.#at = 0;
    return this.#show();
  }

  step(by: number): Found | undefined {
    if (this.#ranges.length === 0) return undefined;
    this.#at = (this.#at + by + this.#ranges.length) % this.#ranges.length;
    return this.#show();
  }

  clear(): void {
    this.#ranges = [];
    CSS.highlights?.delete('log-found');
    CSS.highlights?.delete('log-current');
  }

  #show(): Found {
    const range = this.#ranges[this.#at];
    if (range) {
      CSS.highlights?.set('log-current', new Highlight(range));
      range.startContainer.parentElement?.closest('.log-line')?.scrollIntoView({ block: 'center' });
    }
    return { at: this.#at, of: this.#ranges.length };
  }
}

/** A find may go over several pieces of a line that differ in colour. */
function rangesIn(line: Element, needle: string): Range[] {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode);
  const whole = texts
    .map(({ data }) => data)
    .join('')
    .toLowerCase();
  const place = (offset: number): readonly [Text, number] | undefined => {
    let left = offset;
    for (const text of texts) {
      if (left <= text.length) return [text, left];
      left -= text.length;
    }
    return undefined;
  };
  const found: Range[] = [];
  for (let at = whole.indexOf(needle); at !== -1; at = whole.indexOf(needle, at + needle.length)) {
    const [start, end] = [place(at), place(at + needle.length)];
    if (!start || !end) continue;
    const range = new Range();
    range.setStart(...start);
    range.setEnd(...end);
    found.push(range);
  }
  return found;
}
