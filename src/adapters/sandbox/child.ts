/**
 * A process of Node, for work that foreign content can make take for ever. Owns how it is confined and how it ends. It
 * has no environment, no file descriptor but its channel, and by Node's permissions no process of its own and no file but
 * those of its code. It is only ever ended by SIGKILL, which no parser can put off; when the service is killed, its
 * channel closes and it ends itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { errorCode } from '../../fault.ts';

export interface ChildProgram {
  readonly entry: string;
  /** Folders of code that it reads. */
  readonly reads: readonly string[];
  /** Where it keeps compiled code. Its own: what a child wrote, the service must not run. */
  readonly cache: string;
}

/** It is gone, by itself or because it was killed. */
export class ChildEnded extends Error {
  readonly signal: NodeJS.Signals | null;

  constructor(code: number | null, signal: NodeJS.Signals | null, said: string) {
    super(`the child process ended with ${signal ?? code}${said === '' ? '' : `: ${said}`}`);
    this.name = 'ChildEnded';
    this.signal = signal;
  }
}

const mostSaid = 2_000;

export class Child {
  readonly #process: ChildProcess;
  readonly #arrived: unknown[] = [];
  #wanted: { settle(message: unknown): void; fail(error: Error): void } | undefined;
  #ended: ChildEnded | undefined;
  readonly ended: Promise<void>;

  constructor({ entry, reads, cache: wanted }: ChildProgram) {
    const cache = made(wanted);
    const confined = [
      '--permission',
      ...reads.map((folder) => `--allow-fs-read=${folder}`),
      ...(cache === '' ? [] : [`--allow-fs-read=${cache}`, `--allow-fs-write=${cache}`]),
      // The parser of JavaScript is native, and a thread has the stack that it needs.
      '--allow-addons',
      '--allow-worker',
      '--disallow-code-generation-from-strings',
      '--disable-warning=SecurityWarning',
    ];
    this.#process = spawn(process.execPath, [...confined, entry, cache], {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
    });
    let said = '';
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-mostSaid);
    });
    this.#process.on('message', (message: unknown) => this.#take(message));
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null, why = said) => {
        this.#ended ??= new ChildEnded(code, signal, why.trim());
        this.#wanted?.fail(this.#ended);
        this.#wanted = undefined;
        resolve();
      };
      this.#process.once('error', (error) => end(null, null, error.message));
      this.#process.once('close', (code, signal) => end(code, signal));
    });
    if (this.#process.pid !== undefined) putBehindTheService(this.#process.pid);
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Resolves once it is handed over, so that whoever sends much waits for the child. */
  send(message: Readonly<Record<string, unknown>>): Promise<void> {
    return new Promise((resolve, reject) => {
      // A channel that is closed belongs to a process that ends; how it ended says more.
      const fail = () => {
        this.kill();
        void this.ended.then(() => reject(this.#ended));
      };
      if (!this.#process.connected) fail();
      else this.#process.send(message, (error) => (error ? fail() : resolve()));
    });
  }

  /** The next message of the child; one asks at a time. */
  receive(): Promise<unknown> {
    if (this.#arrived.length > 0) return Promise.resolve(this.#arrived.shift());
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((settle, fail) => {
      this.#wanted = { settle, fail };
    });
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** While nobody waits for it, it keeps no process alive. */
  rest(): void {
    this.#process.unref();
    this.#process.channel?.unref();
  }

  wake(): void {
    this.#process.ref();
    this.#process.channel?.ref();
  }

  #take(message: unknown): void {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted) wanted.settle(message);
    else this.#arrived.push(message);
  }
}

/** Node grants a folder that is there. Without one the child starts more slowly, and all else is the same. */
function made(cache: string): string {
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    return cache;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
    return '';
  }
}

const lowest = constants.priority.PRIORITY_LOW;

/**
 * It yields the processors to the service and its database, and when memory runs out, the kernel takes this one, and
 * neither of them.
 */
function putBehindTheService(pid: number): void {
  for (const put of [
    () => setPriority(pid, Math.min(lowest, getPriority() + 10)),
    () => writeFileSync(`/proc/${pid}/oom_score_adj`, '1000'),
  ])
    try {
      put();
    } catch (error) {
      // It has ended already, or the system has no such thing or lets nobody do it: then the limits alone hold.
      const code = errorCode(Object(error).info ?? error) ?? '';
      if (!['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EROFS'].includes(code)) throw error;
    }
}
