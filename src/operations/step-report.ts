/** Log lines and progress of a running step, buffered for a moment and written together, in order. */
import { second } from '../clock.ts';
import type { News, OperationEvent } from '../events/event-kinds.ts';
import type { Json } from './definition.ts';
import type { Journal } from './journal.ts';
import { LeaseLost } from './queries.ts';

const bufferMs = 100;
const maxLines = 200;
const maxLineLength = 8_192;

export class StepReport {
  readonly #journal: Pick<Journal, 'report'>;
  readonly #step: string;
  #events: News<OperationEvent>[] = [];
  #progress: { readonly fraction: number; readonly text: string | null } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stillTimer: NodeJS.Timeout | undefined;
  #hasSpoken = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(journal: Pick<Journal, 'report'>, step: string, quietMs = 15 * second) {
    this.#journal = journal;
    this.#step = step;
    this.#watch(performance.now(), quietMs);
  }

  /** A step that says nothing for long is told to be alive, ever more seldom: who waits would take it for stuck. */
  #watch(begunAt: number, quietMs: number): void {
    this.#stillTimer = setTimeout(() => {
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      if (!this.#hasSpoken) this.log(`Still at «${this.#step}», for ${seconds} s.`);
      this.#hasSpoken = false;
      this.#watch(begunAt, quietMs * 2);
    }, quietMs).unref();
  }

  log(line: string): void {
    this.#hasSpoken = true;
    this.#events.push({ kind: 'log', data: { step: this.#step, line: line.slice(0, maxLineLength) } });
    if (this.#events.length >= maxLines) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), bufferMs);
  }

  progress(fraction: number, text?: string): void {
    this.#hasSpoken = true;
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
    clearTimeout(this.#stillTimer);
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
