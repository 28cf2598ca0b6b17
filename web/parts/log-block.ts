/** Some lines of a log as one text with line ends, and an element only where it has a colour or a step begins. */
import { pieces } from '../data/ansi.ts';

/** It is laid out as a whole: whichever is met first. `contain-intrinsic-block-size` in the style is for so many. */
const full = { lines: 200, characters: 20_000 };

/** A part of the text of a line: at least one character. */
export interface Place {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export class LogBlock {
  readonly element = document.createElement('div');
  /** The first of its lines. */
  readonly first: number;
  /** Where in its text each of them begins. */
  readonly #starts: number[] = [];
  #length = 0;
  /** Text without a colour is gathered over lines. */
  #plain = '';

  constructor(first: number) {
    this.first = first;
    this.element.className = 'log-block';
  }

  /** Behind the last of them. */
  get end(): number {
    return this.first + this.#starts.length;
  }

  get isFull(): boolean {
    return this.#starts.length >= full.lines || this.#length >= full.characters;
  }

  /** Under the name of a step, where one begins with it. */
  add(line: string, step: string): void {
    if (step !== '') this.#append(headOf(step));
    this.#starts.push(this.#length);
    for (const { text, style } of pieces(line)) {
      this.#length += text.length;
      if (style === '') this.#plain += text;
      else this.#append(coloured(text, style));
    }
    this.#plain += '\n';
    this.#length += 1;
  }

  flush(): void {
    const last = this.element.lastChild;
    if (last instanceof Text) last.appendData(this.#plain);
    else if (this.#plain !== '') this.element.append(this.#plain);
    this.#plain = '';
  }

  #append(element: HTMLElement): void {
    this.flush();
    this.element.append(element);
  }

  /** Where they stand in the page; those that do not yet are left out. */
  rangesOf(places: readonly Place[]): Range[] {
    const nodes: Text[] = [];
    const ends: number[] = [];
    const walker = document.createTreeWalker(this.element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node instanceof Text; node = walker.nextNode()) {
      nodes.push(node);
      ends.push((ends.at(-1) ?? 0) + node.length);
    }
    return places.flatMap(({ at, from, to }) => {
      const start = this.#starts[at - this.first] ?? Number.NaN;
      const first = ends.findIndex((end) => start + from < end);
      const last = ends.findIndex((end) => start + to <= end);
      const [firstNode, lastNode] = [nodes[first], nodes[last]];
      if (!firstNode || !lastNode) return [];
      const range = new Range();
      range.setStart(firstNode, start + from - (ends[first - 1] ?? 0));
      range.setEnd(lastNode, start + to - (ends[last - 1] ?? 0));
      return range;
    });
  }
}

function coloured(text: string, style: string): HTMLElement {
  const piece = document.createElement('span');
  piece.className = style;
  piece.textContent = text;
  return piece;
}

/** Its name is drawn by the style: it is no text of the log. */
function headOf(step: string): HTMLElement {
  const head = document.createElement('div');
  head.className = 'log-source';
  head.dataset.source = step;
  return head;
}
