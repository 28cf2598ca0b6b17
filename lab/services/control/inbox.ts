/**
 * Things that arrived and are kept: the last thousand, each to be read once per key (a mail once by each of its
 * recipients, a request once by its path). All is done within one turn of the event loop, so that no two readers
 * get the same thing and none is lost between looking and waiting.
 */
import { InputError } from './input.ts';

const most = 1000;

interface Entry<T> {
  readonly item: T;
  /** The keys it was not read by yet. */
  readonly unread: Set<string>;
}

interface Waiter<T> {
  readonly key: string | undefined;
  readonly give: (item: T) => void;
  readonly end: (reason: unknown) => void;
}

export class Inbox<T> {
  readonly #keysOf: (item: T) => readonly string[];
  readonly #waiters = new Set<Waiter<T>>();
  #entries: Entry<T>[] = [];
  #closed = false;

  constructor(keysOf: (item: T) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  put(item: T): void {
    const entry = { item, unread: new Set(this.#keysOf(item)) };
    this.#entries = [...this.#entries.slice(1 - most), entry];
    // In the order they came: whoever has waited longest is first.
    for (const waiter of this.#waiters) if (taken(entry, waiter.key)) waiter.give(item);
  }

  /** Reading and unread alike; looking at the list reads nothing. */
  list(key?: string): T[] {
    const items = this.#entries.map(({ item }) => item);
    return key === undefined ? items : items.filter((item) => this.#keysOf(item).includes(key));
  }

  clear(): void {
    this.#entries = [];
  }

  /** The oldest unread one, or the next to come; undefined when none came in time. Without a key, of any. */
  next(key: string | undefined, timeoutMs: number, stop?: AbortSignal): Promise<T | undefined> {
    const waiting = this.#entries.find((entry) => taken(entry, key));
    if (waiting) return Promise.resolve(waiting.item);
    if (this.#closed) return Promise.reject(whenClosed());
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        stop?.removeEventListener('abort', stopped);
        this.#waiters.delete(waiter);
      };
      const settle = (item: T | undefined) => {
        done();
        resolve(item);
      };
      const end = (reason: unknown) => {
        done();
        reject(reason);
      };
      const stopped = () => end(stop?.reason);
      const waiter: Waiter<T> = { key, give: settle, end };
      const timer = setTimeout(settle, timeoutMs, undefined);
      this.#waiters.add(waiter);
      stop?.addEventListener('abort', stopped, { once: true });
      if (stop?.aborted) stopped();
    });
  }

  /** Nobody is left waiting for what can no longer come. What is there can still be read. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.end(whenClosed());
  }
}

/** Read by one key, it stays unread for the others; read by any, it is read for all. */
function taken(entry: { readonly unread: Set<string> }, key: string | undefined): boolean {
  if (key !== undefined) return entry.unread.delete(key);
  const unread = entry.unread.size > 0;
  entry.unread.clear();
  return unread;
}

function whenClosed(): InputError {
  return new InputError('The server was closed, so nothing more will arrive.', 503);
}
