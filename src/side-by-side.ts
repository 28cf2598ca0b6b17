/**
 * Work on things of many workspaces that somebody outside answers for: their servers, storages, name servers and hosts.
 * Whoever has a thousand that never answer takes up a few places for a while, and keeps nobody else waiting for longer.
 */
import type { WorkspaceId } from './ids.ts';

export interface Fairness {
  /** At once, of all workspaces together and of one. */
  readonly atOnce: number;
  readonly ofOne: number;
  /** For all that is of one workspace; what is not begun by then is left out, and has to be due again by itself. */
  readonly withinMs: number;
}

/** Ends when all of it has ended; then fails with the first failure, where there was one. */
export async function sideBySide<T extends { readonly workspaceId: WorkspaceId }>(
  rows: readonly T[],
  { atOnce, ofOne, withinMs }: Fairness,
  work: (row: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const running = new Set<Promise<void>>();
  const groups = Map.groupBy(rows, ({ workspaceId }) => workspaceId).values();
  let turns = groups.map((left) => new Turn(left, ofOne, withinMs)).toArray();
  for (;;) {
    for (const turn of turns) {
      if (running.size >= atOnce) break;
      const begun = turn.begin(work)?.catch((error: unknown) => void failures.push(error));
      if (!begun) continue;
      const one: Promise<void> = begun.finally(() => running.delete(one));
      running.add(one);
    }
    turns = turns.filter(({ isOver }) => !isOver);
    if (running.size === 0) break;
    if (running.size >= atOnce || !turns.some(({ isReady }) => isReady)) await Promise.race(running);
  }
  if (failures.length > 0) throw failures[0];
}

/** What is left of one workspace. */
class Turn<T> {
  readonly #left: T[];
  readonly #ofOne: number;
  readonly #withinMs: number;
  #running = 0;
  #signal: AbortSignal | undefined;

  constructor(left: readonly T[], ofOne: number, withinMs: number) {
    this.#left = [...left];
    this.#ofOne = ofOne;
    this.#withinMs = withinMs;
  }

  get isOver(): boolean {
    return this.#left.length === 0 || (this.#signal?.aborted ?? false);
  }

  get isReady(): boolean {
    return !this.isOver && this.#running < this.#ofOne;
  }

  begin(work: (row: T, signal: AbortSignal) => Promise<void>): Promise<void> | undefined {
    const row = this.isReady ? this.#left.shift() : undefined;
    if (row === undefined) return undefined;
    this.#signal ??= AbortSignal.timeout(this.#withinMs);
    this.#running += 1;
    return work(row, this.#signal).finally(() => {
      this.#running -= 1;
    });
  }
}
