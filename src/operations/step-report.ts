/** Log lines and progress of a running step, buffered for a moment and written together, in order. */
import type { News, OperationEvent } from '../events/event-kinds.ts';
import type { Json } from './definition.ts';
import type { Journal } from './journal.ts';
import { LeaseLost } from './queries.ts';

const bufferMs = 100;
const maxLines = 200;
const maxLineLength = 8_192;

export class StepReport {
  readonly #journal: Journal;
  readonly #step: string;
  #events: News<OperationEvent>[] = [];
  #progress: { readonly fraction: number; readonly text: string | null } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(journal: Journal, step: string) {
    this.#journal = journal;
    this.#step = step;
  }

  log(line: string): void {
    this.#events.push({ kind: 'log', data: { step: this.#step, line: line.slice(0, maxLineLength) } });
    if (this.#events.length >= maxLines) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), bufferMs);
  }

  progress(fraction: number, text?: string): void {
    this.#progress = { fraction: Math.min(1, Math.max(0, fraction)), text: text ?? null };
    this.#timer ??= setTimeout(() => this.#write(), bufferMs);
  }

  /** What is not written yet, for whoever writes next; all before it is. */
  async rest(): Promise<readonly News<OperationEvent>[]> {
    const { events } = this.#take();
    await this.#writing;
    return events;
  }

  /** Waits until everything is written, before the step's end is. */
  async close(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #take(): { readonly events: readonly News<OperationEvent>[]; readonly progress: Json | undefined } {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const progress = this.#progress;
    const events = this.#events;
    if (progress !== undefined) events.push({ kind: 'progress', data: { step: this.#step, ...progress } });
    this.#events = [];
    this.#progress = undefined;
    return { events, progress };
  }

  #write(): void {
    const { events, progress } = this.#take();
    if (events.length === 0) return;
    this.#writing = this.#writing
      .then(() => this.#journal.report(events, progress))
      .catch((error) => {
        // The step itself meets it with its next journal entry.
        if (!(error instanceof LeaseLost)) throw error;
      });
  }
}
