/**
 * A log of any length. Lines are put into the page in blocks that the browser lays out only where they are seen, so the
 * browser's own search finds all of them; Preact would spend its time on comparing what never changes.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { pieces, textOf } from '../data/ansi.ts';
import type { Log, LogLine } from '../data/log.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { saveFile } from '../ui/save-file.ts';
import { LogSearch } from './log-search.ts';

interface LogViewProps {
  readonly log: Log;
  /** Of the file that is downloaded. */
  readonly name: string;
  readonly failedSource: string | undefined;
  /** What an empty log says. */
  readonly waiting: string;
}

const linesInBlock = 200;
/** As many as a frame has time for. */
const linesInFrame = 2_000;

export function LogView({ log, name, failedSource, waiting }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<Painter>(null);
  const [count, setCount] = useState(log.lines.length);
  const [isWrapped, setWrapped] = useState(true);
  const [found, setFound] = useState<{ readonly at: number; readonly of: number }>();
  useEffect(() => {
    if (!box.current) return undefined;
    const painter = new Painter(box.current, log, setCount);
    view.current = painter;
    return () => painter.stop();
  }, [log]);
  const copy = useAction(async () => {
    await navigator.clipboard.writeText(text());
    return true;
  });
  const text = () => log.lines.map((line) => plainText(line)).join('\n');
  return (
    <section class="log-frame" aria-label="Log">
      <div class="log-bar">
        <input
          class="input log-find"
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          onInput={(event) => setFound(view.current?.search.look(event.currentTarget.value))}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            setFound(view.current?.search.step(event.shiftKey ? -1 : 1));
          }}
        />
        <span class="fine log-found" role="status">
          {found && (found.of === 0 ? 'nothing found' : `${found.at + 1} of ${found.of}`)}
        </span>
        <span class="fine log-count">{count.toLocaleString('en')} lines</span>
        {failedSource !== undefined && (
          <Button kind="quiet" onPress={() => view.current?.show(failedSource)}>
            Jump to the failure
          </Button>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={isWrapped}
            onChange={(event) => setWrapped(event.currentTarget.checked)}
          />
          Wrap
        </label>
        <Button kind="quiet" isBusy={copy.isBusy} onPress={copy.run}>
          {copy.failure ? 'Not allowed here' : copy.result ? 'Copied' : 'Copy'}
        </Button>
        <Button
          kind="quiet"
          onPress={() => saveFile(`${name}.log`, new Blob([text()], { type: 'text/plain' }))}
        >
          Download
        </Button>
      </div>
      <div
        class={isWrapped ? 'log log-wrapped' : 'log'}
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it
        tabIndex={0}
        role="log"
        aria-label="Lines"
      />
      {count === 0 && <p class="log-waiting hint">{waiting}</p>}
    </section>
  );
}

function plainText({ source, text }: LogLine): string {
  return `${source ? `[${source}] ` : ''}${textOf(text)}`;
}

class Painter {
  readonly search: LogSearch;
  readonly #box: HTMLElement;
  readonly #log: Log;
  readonly #counted: (count: number) => void;
  readonly #unread: () => void;
  #painted = 0;
  #lastSource: string | undefined;
  #isDue = false;

  constructor(box: HTMLElement, log: Log, counted: (count: number) => void) {
    this.#box = box;
    this.#log = log;
    this.#counted = counted;
    this.search = new LogSearch(
      log,
      (at) => box.children[Math.floor(at / linesInBlock)]?.children[at % linesInBlock],
    );
    this.#unread = log.onLines(() => this.#paint());
    this.#paint();
  }

  stop(): void {
    this.#unread();
    this.search.clear();
    this.#box.replaceChildren();
  }

  /** The last line of a step. */
  show(source: string): void {
    const lines = this.#box.querySelectorAll(`[data-source="${CSS.escape(source)}"]`);
    lines[lines.length - 1]?.scrollIntoView({ block: 'center' });
  }

  #paint(): void {
    const { lines } = this.#log;
    const isAtEnd = this.#box.scrollHeight - this.#box.scrollTop - this.#box.clientHeight < 40;
    const end = Math.min(lines.length, this.#painted + linesInFrame);
    for (; this.#painted < end; this.#painted += 1) {
      const line = lines[this.#painted];
      if (line) this.#block().append(this.#drawn(line));
    }
    this.#counted(lines.length);
    if (isAtEnd) this.#box.scrollTop = this.#box.scrollHeight;
    if (this.#painted < lines.length && !this.#isDue) {
      this.#isDue = true;
      requestAnimationFrame(() => {
        this.#isDue = false;
        this.#paint();
      });
    }
  }

  #block(): Element {
    const last = this.#box.lastElementChild;
    if (last && last.childElementCount < linesInBlock) return last;
    const block = document.createElement('div');
    block.className = 'log-block';
    this.#box.append(block);
    return block;
  }

  #drawn(line: LogLine): HTMLElement {
    const row = document.createElement('div');
    row.className = line.source === this.#lastSource ? 'log-line' : 'log-line log-first';
    row.dataset.source = line.source;
    this.#lastSource = line.source;
    for (const { text, style } of pieces(line.text)) {
      if (style === '') row.append(text);
      else {
        const piece = document.createElement('span');
        piece.className = style;
        piece.textContent = text;
        row.append(piece);
      }
    }
    return row;
  }
}
