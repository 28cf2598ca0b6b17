/**
 * One fetch at a time for each mirror, also among several processes. The lock is a name in the kernel: whoever dies
 * lets go of it, and whoever waits hears of it at once, because the connection it waits on breaks.
 */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { errorCode } from '../../../fault.ts';
import { raceAbort } from '../../../remote/ssh/deadline.ts';

export class MirrorLocks {
  readonly #prefix: string;
  readonly #tails = new Map<string, Promise<unknown>>();

  constructor(folder: string) {
    // Device and inode, not the path: two names of one folder are one folder.
    const { dev, ino } = statSync(folder);
    this.#prefix = `\0slipway-mirror-${dev}-${ino}-`;
  }

  async hold<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const { promise: mine, resolve: release } = Promise.withResolvers<void>();
    const tail = before.then(() => mine);
    this.#tails.set(key, tail);
    try {
      await raceAbort(before, signal);
      const release = await this.#take(key, signal);
      try {
        return await work();
      } finally {
        await release();
      }
    } finally {
      release();
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }

  /** Undefined where somebody holds it. */
  async tryHold<T>(key: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#tails.has(key)) return undefined;
    const release = await listen(this.#name(key));
    if (!release) return undefined;
    const done = Promise.withResolvers<void>();
    this.#tails.set(key, done.promise);
    try {
      return await work();
    } finally {
      if (this.#tails.get(key) === done.promise) this.#tails.delete(key);
      await release();
      done.resolve();
    }
  }

  async #take(key: string, signal: AbortSignal): Promise<() => Promise<void>> {
    for (;;) {
      signal.throwIfAborted();
      const release = await listen(this.#name(key));
      if (release) return release;
      await holderGone(this.#name(key), signal);
    }
  }

  #name(key: string): string {
    return `${this.#prefix}${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
  }
}

function listen(name: string): Promise<(() => Promise<void>) | undefined> {
  const waiting = new Set<Socket>();
  const server: Server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => waiting.delete(socket));
  });
  server.unref();
  const release = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of waiting) socket.destroy();
    });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (errorCode(error) === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(name, () => resolve(release));
  });
}

/** Resolves when the holder lets go or dies; who of those waiting comes next is decided by the kernel. */
async function holderGone(name: string, signal: AbortSignal): Promise<void> {
  const socket = connect(name);
  try {
    const gone = new Promise<void>((resolve) => {
      socket.on('error', () => resolve());
      socket.once('close', () => resolve());
    });
    await raceAbort(gone, signal);
  } finally {
    socket.destroy();
  }
}
