/**
 * Puts the lines of a log into the page, past Preact, which would compare what never changes. They are text in blocks that
 * the browser lays out only where they are seen, so its own search finds all of them; an element for each line would only
 * cost it memory.
 */
import { textOf } from '../data/ansi.ts';
import type { Log } from '../data/log.ts';
import { LogBlock, type Place } from './log-block.ts';

/** As many as a frame has time for: whichever is met first. */
const ofFrame = { lines: 2_000, characters: 200_000 };
/** Who is no further from the end than this follows what is written. */
const nearEndPx = 40;

export class LogPainter {
  readonly #box: HTMLElement;
  readonly #log: Log;
  readonly #counted: (count: number) => void;
  readonly #ending = new AbortController();
  readonly #blocks: LogBlock[] = [];
  #painted = 0;
  #source = '';
  #isFollowing = true;
  #top = 0;
  #isDue = false;

  constructor(box: HTMLElement, log: Log, counted: (count: number) => void) {
    this.#box = box;
    this.#log = log;
    this.#counted = counted;
    const { signal } = this.#ending;
    const forget = log.onLines(() => this.#paintSoon());
    signal.addEventListener('abort', forget);
    box.addEventListener('scroll', () => this.#scrolled(), { signal, passive: true });
    this.#paint();
  }

  stop(): void {
    this.#ending.abort();
    this.#box.replaceChildren();
  }

  rangesOf(places: readonly Place[]): Range[] {
    const byBlock = Map.groupBy(places, ({ at }) => this.#blocks.findLast(({ first }) => first <= at));
    return [...byBlock].flatMap(([block, own]) => block?.rangesOf(own) ?? []);
  }

  /** In the middle of what is seen. */
  show(range: Range): void {
    const [line, box] = [range.getBoundingClientRect(), this.#box.getBoundingClientRect()];
    this.#box.scrollTop += line.top - box.top - box.height / 2;
  }

  /** The last line of a step that says something. */
  showLast(source: string): void {
    const at = this.#log.findLast((line) => line.source === source && textOf(line.text).trim() !== '');
    for (const range of this.rangesOf([{ at, from: 0, to: 1 }])) this.show(range);
  }

  /** Only people go up; what grows or is laid out does not. */
  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#box;
    if (scrollHeight - scrollTop - clientHeight < nearEndPx) this.#isFollowing = true;
    else if (scrollTop < this.#top) this.#isFollowing = false;
    this.#top = scrollTop;
  }

  #paint(): void {
    const log = this.#log;
    // In a tab that nobody looks at, there are lines that were let go of before their frame came.
    this.#painted = Math.max(this.#painted, log.first);
    const end = Math.min(log.end, this.#painted + ofFrame.lines);
    let room = ofFrame.characters;
    for (; this.#painted < end && room > 0; this.#painted += 1) {
      const { source, text } = log.at(this.#painted) ?? { source: '', text: '' };
      this.#block().add(text, source === this.#source ? '' : source);
      this.#source = source;
      room -= text.length;
    }
    this.#blocks.at(-1)?.flush();
    while ((this.#blocks[0]?.end ?? Number.POSITIVE_INFINITY) <= log.first)
      this.#blocks.shift()?.element.remove();
    this.#counted(log.end);
    if (this.#isFollowing) this.#box.scrollTop = this.#box.scrollHeight;
    if (this.#painted < log.end) this.#paintSoon();
  }

  #paintSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      if (!this.#ending.signal.aborted) this.#paint();
    });
  }

  #block(): LogBlock {
    const last = this.#blocks.at(-1);
    if (last && !last.isFull && last.end === this.#painted) return last;
    last?.flush();
    const block = new LogBlock(this.#painted);
    this.#blocks.push(block);
    this.#box.append(block.element);
    return block;
  }
}
