/**
 * A small cache of what the service has, as signals. Each entry says which events make it untrue; it is then loaded
 * anew if someone looks at it, and forgotten if nobody does. Nothing asks by the clock.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { type CallOptions, ProblemError, type WorkspaceEvent } from '../../sdk/index.ts';
import { type Failure, failureOf } from './failure.ts';
import { sessionEnded } from './session.ts';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
}

export type Hears = (event: WorkspaceEvent) => boolean;

/** So many events can come in a moment; what they change is loaded once. */
const gatherMs = 150;

class Resource<T> {
  readonly #state = signal<Loaded<T>>({ value: undefined, failure: undefined });
  readonly #load: (options: CallOptions) => Promise<T>;
  readonly #hears: Hears | undefined;
  #users = 0;
  #loading: AbortController | undefined;
  #isStale = true;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(load: (options: CallOptions) => Promise<T>, hears: Hears | undefined) {
    this.#load = load;
    this.#hears = hears;
  }

  hears(event: WorkspaceEvent): boolean {
    return this.#hears?.(event) ?? false;
  }

  get state(): ReadonlySignal<Loaded<T>> {
    return this.#state;
  }

  /** By events, which keep it true. */
  get isTold(): boolean {
    return this.#hears !== undefined;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  use(): () => void {
    this.#users += 1;
    if (this.#isStale && !this.#loading) void this.reload();
    return () => {
      this.#users -= 1;
      if (this.#users > 0) return;
      this.#loading?.abort();
      // What no event tells of is true while it is looked at, and must be loaded anew for the next look.
      if (!this.#hears) this.#isStale = true;
    };
  }

  /** Something has changed; what is shown stays until the new is there. */
  touch(): void {
    this.#isStale = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.isUsed) void this.reload();
    }, gatherMs);
  }

  async reload(): Promise<void> {
    this.#loading?.abort();
    const own = new AbortController();
    this.#loading = own;
    this.#isStale = false;
    try {
      await gate;
      own.signal.throwIfAborted();
      const value = await this.#load({ signal: own.signal });
      if (!own.signal.aborted) this.#state.value = { value, failure: undefined };
    } catch (error) {
      this.#isStale = true;
      if (own.signal.aborted) return;
      if (error instanceof ProblemError && error.code === 'unauthenticated') return void sessionEnded();
      // What was true a moment ago is better than nothing, with the reason why it is no newer.
      const gone = error instanceof ProblemError && error.status === 404;
      this.#state.value = { value: gone ? undefined : this.#state.value.value, failure: failureOf(error) };
    } finally {
      if (this.#loading === own) this.#loading = undefined;
    }
  }

  set(value: T): void {
    this.#state.value = { value, failure: undefined };
  }
}

const resources = new Map<string, Resource<unknown>>();

/** What is loaded before the stream of events has begun could change unheard; so it waits for that, for a moment. */
let gate = Promise.resolve();

export function loadAfter(begun: Promise<void>): void {
  gate = begun;
}

function resourceOf<T>(
  key: string,
  load: (options: CallOptions) => Promise<T>,
  hears: Hears | undefined,
): Resource<T> {
  const known = resources.get(key);
  // A key stands for one kind of thing, so what lies under it is of that type.
  if (known) return Object(known);
  const made = new Resource<T>(load, hears);
  resources.set(key, Object(made));
  return made;
}

export interface Used<T> extends Loaded<T> {
  readonly reload: () => Promise<void>;
  /** What the answer to a change has told already. */
  readonly set: (value: T) => void;
}

export function useResource<T>(
  key: string,
  load: (options: CallOptions) => Promise<T>,
  hears?: Hears,
): Used<T> {
  // The key says all that `load` and `hears` depend on.
  const resource = useMemo(() => resourceOf(key, load, hears), [key]);
  useEffect(() => resource.use(), [resource]);
  const { value, failure } = resource.state.value;
  return { value, failure, reload: () => resource.reload(), set: (next) => resource.set(next) };
}

export function hear(event: WorkspaceEvent): void {
  if (event.kind === 'reset') {
    forgetAll();
    return;
  }
  for (const [key, resource] of resources)
    if (resource.hears(event)) {
      if (resource.isUsed) resource.touch();
      else resources.delete(key);
    }
}

/** Nobody knows what has changed meanwhile. */
export function forgetAll(): void {
  for (const [key, resource] of resources)
    if (resource.isUsed) resource.touch();
    else resources.delete(key);
}

/** What no event tells of may have changed while the tab was out of sight. */
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  for (const resource of resources.values()) if (resource.isUsed && !resource.isTold) resource.touch();
});

/** Another person, or another workspace. */
export function dropAll(): void {
  resources.clear();
}
