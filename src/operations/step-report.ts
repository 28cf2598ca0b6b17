/** Log lines and progress of a running step, buffered for a moment and written together, in order. */
import type { News, OperationEvent } from '../events/event-kinds.ts';
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

  /** Waits until everything is written, before the step's end is. */
  async close(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const progress = this.#progress;
    const events = this.#events;
    if (progress !== undefined) events.push({ kind: 'progress', data: { step: this.#step, ...progress } });
    if (events.length === 0) return;
    this.#events = [];
    this.#progress = undefined;
    this.#writing = this.#writing
      .then(() => this.#journal.report(events, progress))
      .catch((error) => {
        // The step itself meets it with its next journal entry.
        if (!(error instanceof LeaseLost)) throw error;
      });
  }
}
