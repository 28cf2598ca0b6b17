/**
 * Parses foreign JavaScript, TypeScript and YAML on a thread of its own. The parser of the former is native code that
 * goes down into nested code by calling itself: a file of ten thousand brackets would overrun the stack of the main
 * thread and end the service. The parser of the latter needs seconds for some files of 200 kB. The thread has a stack
 * that no file we give it can overrun; a file that takes too long, or all memory, ends the thread and counts as
 * unreadable; and the service stays responsive meanwhile. The thread starts with the first file, ends when nobody has
 * asked for a while, and keeps no process alive.
 */
import { Worker } from 'node:worker_threads';

export interface ParseQuestion {
  readonly id: number;
  readonly kind: 'source' | 'yaml';
  readonly path: string;
  readonly text: string;
}

export type ParseOutcome = { readonly value: unknown } | { readonly failed: string };
/** The first answer of a thread has no outcome: it only says that it runs. */
export type ParseAnswer = { readonly id: number } & ParseOutcome;
export const readyId = 0;

/** A level of nesting takes at least one character of text and up to about 2.5 kB of stack. */
export const mostParsedBytes = 256 * 1024;
const stackSizeMb = 900;
/** Small, so that the thread cleans up after itself early instead of swelling. */
const heapMb = 160;
const youngMb = 8;
const usualLongestMs = 3_000;
const startMs = 30_000;
const idleMs = 60_000;

interface Waiting {
  readonly question: ParseQuestion;
  readonly settle: (outcome: ParseOutcome) => void;
}

export class ParseThread {
  readonly #longestMs: number;
  #worker: Worker | undefined;
  #isReady = false;
  #lastId = readyId;
  #watch: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** In the order in which the thread works: the first is the one under way. */
  readonly #waiting = new Map<number, Waiting>();

  /** How long one file may take, counted from when the thread runs. */
  constructor(longestMs = usualLongestMs) {
    this.#longestMs = longestMs;
  }

  parse(kind: ParseQuestion['kind'], path: string, text: string): Promise<ParseOutcome> {
    this.#lastId += 1;
    const question = { id: this.#lastId, kind, path, text };
    return new Promise((settle) => {
      this.#waiting.set(question.id, { question, settle });
      const worker = this.#running();
      worker.postMessage(question);
      if (this.#waiting.size === 1) this.#attend(worker);
    });
  }

  #running(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), {
      resourceLimits: { stackSizeMb, maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
      env: {},
      name: 'parse',
    });
    worker.on('message', (answer: ParseAnswer) => this.#answered(worker, answer));
    worker.on('error', (error) => this.#lost(worker, error.message));
    worker.on('exit', () => this.#lost(worker, 'the thread ended'));
    this.#worker = worker;
    this.#isReady = false;
    return worker;
  }

  #answered(worker: Worker, { id, ...outcome }: ParseAnswer): void {
    if (id === readyId) this.#isReady = true;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(outcome);
    if (this.#waiting.size > 0) this.#attend(worker);
    else this.#rest(worker);
  }

  #attend(worker: Worker): void {
    worker.ref();
    clearTimeout(this.#idle);
    clearTimeout(this.#watch);
    // No file is to blame for a machine that is slow to start a thread.
    const mostMs = this.#isReady ? this.#longestMs : startMs;
    this.#watch = setTimeout(() => this.#lost(worker, `not parsed after ${mostMs} ms`), mostMs);
  }

  #rest(worker: Worker): void {
    clearTimeout(this.#watch);
    worker.unref();
    this.#idle = setTimeout(() => this.#drop(worker), idleMs).unref();
  }

  /** The file under way is to blame; the others are asked again of a new thread. */
  #lost(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#drop(worker);
    const [culprit] = this.#waiting.values();
    if (!culprit) return;
    this.#waiting.delete(culprit.question.id);
    culprit.settle({ failed: why });
    if (this.#waiting.size === 0) return;
    const next = this.#running();
    for (const { question } of this.#waiting.values()) next.postMessage(question);
    this.#attend(next);
  }

  #drop(worker: Worker): void {
    this.#worker = undefined;
    clearTimeout(this.#watch);
    clearTimeout(this.#idle);
    worker.terminate();
  }
}
