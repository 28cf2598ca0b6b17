/** A log of any length: its lines, and a bar to search, wrap, copy and download them. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { textOf } from '../data/ansi.ts';
import type { Log } from '../data/log.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { saveFile } from '../ui/save-file.ts';
import { LogPainter } from './log-painter.ts';
import { type Found, LogSearch } from './log-search.ts';

interface LogViewProps {
  readonly log: Log;
  /** Of the file that is downloaded. */
  readonly name: string;
  readonly failedSource: string | undefined;
  /** What an empty log says. */
  readonly waiting: string;
}

export function LogView({ log, name, failedSource, waiting }: LogViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<{ readonly painter: LogPainter; readonly search: LogSearch }>(null);
  const [count, setCount] = useState(log.end);
  const [isWrapped, setWrapped] = useState(true);
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (!box.current) return undefined;
    const painter = new LogPainter(box.current, log, setCount);
    const search = new LogSearch(log, painter, setFound);
    view.current = { painter, search };
    return () => {
      search.clear();
      painter.stop();
    };
  }, [log]);
  const copy = useAction(async () => {
    // Asked for at once, and given later: some browsers forget soon who pressed the button.
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': fileOf(log) })]);
    return true;
  });
  const download = useAction(async () => {
    saveFile(`${name}.log`, await fileOf(log));
  });
  return (
    <section class="log-frame" aria-label="Log">
      <div class="log-bar">
        <input
          class="input log-find"
          type="search"
          aria-label="Search the log"
          placeholder="Search"
          onInput={(event) => view.current?.search.look(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            view.current?.search.step(event.shiftKey ? -1 : 1);
          }}
        />
        <span class="fine log-found" role="status">
          {found && (found.of === 0 ? 'nothing found' : `${found.at + 1} of ${found.of}`)}
        </span>
        <span class="fine log-count">
          {count.toLocaleString('en')} lines
          {log.first > 0 && `, without the first ${log.first.toLocaleString('en')}`}
        </span>
        {failedSource !== undefined && (
          <Button kind="quiet" onPress={() => view.current?.painter.showLast(failedSource)}>
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
        <Button kind="quiet" isBusy={download.isBusy} onPress={download.run}>
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

/** Without colours, and with the name of the step before each line. */
async function fileOf(log: Log): Promise<Blob> {
  const texts: string[] = [];
  for await (const { lines } of log.slices())
    texts.push(...lines.map(({ source, text }) => `${source && `[${source}] `}${textOf(text)}\n`));
  return new Blob(texts, { type: 'text/plain' });
}
