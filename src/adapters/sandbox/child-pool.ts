/**
 * Gives out child processes, so many at a time. One that has done its work well is kept for the next for a while, since
 * starting one costs more than most work; one that failed in any way is killed. Whoever waits is served in turn, and
 * before those who have something running or were served just now: one owner cannot keep the others out.
 */
import { Fault } from '../../fault.ts';
import { Child, type ChildProgram } from './child.ts';

export interface PoolOptions {
  readonly program: ChildProgram;
  readonly mostRunning: number;
  readonly idleMs: number;
  /** How long a new one may take to say that it is there. */
  readonly startMs: number;
}

interface Waiting {
  readonly owner: string;
  start(): void;
}

interface Idle {
  readonly child: Promise<Child | undefined>;
  readonly timer: NodeJS.Timeout;
}

export class ChildPool {
  readonly #options: PoolOptions;
  readonly #children = new Set<Child>();
  readonly #idle: Idle[] = [];
  readonly #running: string[] = [];
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Starts one ahead, for work that is about to come. */
  warm(): void {
    if (this.#isClosed || this.#idle.length > 0 || this.#running.length >= this.#options.mostRunning) return;
    // Where it fails, whoever wants one starts another, and is told.
    this.#keep(this.#start().catch(() => undefined));
  }

  /** Work that throws, or is aborted, costs the child its life; `work` says itself whether it can be used again. */
  async run<T>(
    owner: string,
    signal: AbortSignal,
    work: (child: Child) => Promise<{ readonly value: T; readonly isReusable: boolean }>,
  ): Promise<T> {
    await this.#turn(owner, signal);
    let child: Child | undefined;
    const kill = () => child?.kill();
    signal.addEventListener('abort', kill);
    let isKept = false;
    try {
      child = await this.#take();
      signal.throwIfAborted();
      const { value, isReusable } = await work(child);
      isKept = isReusable && !signal.aborted && !this.#isClosed;
      return value;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', kill);
      if (child && isKept) this.#keep(Promise.resolve(child));
      else child?.kill();
      this.#running.splice(this.#running.indexOf(owner), 1);
      this.#next(owner);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { timer } of this.#idle.splice(0)) clearTimeout(timer);
    const children = [...this.#children];
    for (const child of children) {
      // Whoever closes waits for the end, also of those that kept nothing alive.
      child.wake();
      child.kill();
    }
    await Promise.all(children.map(({ ended }) => ended));
  }

  #turn(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running.length < this.#options.mostRunning) {
      this.#running.push(owner);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting: Waiting = { owner, start };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #next(served: string): void {
    const other = this.#waiting.findIndex(({ owner }) => owner !== served && !this.#running.includes(owner));
    const [waiting] = this.#waiting.splice(Math.max(0, other), 1);
    if (!waiting) return;
    this.#running.push(waiting.owner);
    waiting.start();
  }

  async #take(): Promise<Child> {
    const idle = this.#idle.pop();
    clearTimeout(idle?.timer);
    const child = await idle?.child;
    if (!child || child.hasEnded) return this.#start();
    child.wake();
    return child;
  }

  #keep(child: Promise<Child | undefined>): void {
    const idle: Idle = {
      child: child.then((made) => {
        made?.rest();
        return made;
      }),
      timer: setTimeout(() => {
        this.#idle.splice(this.#idle.indexOf(idle), 1);
        void idle.child.then((made) => made?.kill());
      }, this.#options.idleMs).unref(),
    };
    this.#idle.push(idle);
  }

  async #start(): Promise<Child> {
    if (this.#isClosed) throw new Fault('shutting_down', 'The service is stopping.');
    const child = new Child(this.#options.program);
    this.#children.add(child);
    void child.ended.then(() => this.#children.delete(child));
    const timer = setTimeout(() => child.kill(), this.#options.startMs);
    try {
      await child.receive();
      return child;
    } finally {
      clearTimeout(timer);
    }
  }
}
