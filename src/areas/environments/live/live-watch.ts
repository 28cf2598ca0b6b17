/**
 * One environment that is being watched: its containers, looked at every few seconds, and their lines as they come. It
 * serves all who watch it together, so that the server is asked once. Ends with the last of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { justAfter, type LogPiece } from '../../../adapters/log-tap/log-frames.ts';
import { type LogLine, LogLines } from '../../../adapters/log-tap/log-lines.ts';
import type { LiveView, SeenContainer, ShownContainer } from '../../../engine/live-view.ts';
import { errorText, Fault } from '../../../fault.ts';
import type { ServerId } from '../../../ids.ts';
import type { Secret } from '../../../secret.ts';

export interface Watched {
  readonly log: Logger;
  /** Null where it stands on no server. Fails with `not_found` once the environment is gone. */
  view(signal: AbortSignal): Promise<LiveView | null>;
  secrets(): Promise<readonly Secret[]>;
}

export interface LiveLine extends LogLine {
  readonly container: string;
  readonly process: string;
  readonly replica: number;
  readonly serverId: ServerId;
}

export interface Viewer {
  /** Once, before the first line; the newest last. */
  caughtUp(lines: readonly LiveLine[]): void;
  line(line: LiveLine): void;
  state(containers: readonly ShownContainer[]): void;
  problem(fault: Fault): void;
  end(how: WatchEnd): void;
}

/** `over`: the environment is gone. `left`: it is not; who comes back sees it again. */
export type WatchEnd = 'over' | 'left';

interface Entry {
  readonly id: string;
  readonly name: string;
  readonly process: string;
  readonly replica: number;
  readonly serverId: ServerId;
  readonly lines: LogLines;
  lastAt: string | undefined;
  /** With which start it was followed; where that differs from the present one, there is more to read. */
  followedStart: string | null | undefined;
  leave: (() => void) | undefined;
}

export const mostTail = 1000;
const mebibyte = 1024 * 1024;
/** Of what is kept for those who come later. */
const mostKeptCharacters = 2 * mebibyte;

export class LiveWatch {
  readonly #watched: Watched;
  readonly #everyMs: number;
  readonly #over: () => void;
  readonly #viewers = new Set<Viewer>();
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();
  #kept: LiveLine[] = [];
  #keptCharacters = 0;
  #seen: readonly ShownContainer[] | undefined;
  #seenKey = '';
  #problem: Fault | undefined;

  constructor(watched: Watched, everyMs: number, over: () => void) {
    this.#watched = watched;
    this.#over = over;
    this.#everyMs = everyMs;
  }

  get size(): number {
    return this.#viewers.size;
  }

  join(viewer: Viewer): void {
    this.#viewers.add(viewer);
    if (this.#problem) viewer.problem(this.#problem);
    if (this.#seen) this.#greet(viewer, this.#seen);
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.end('left');
  }

  end(how: WatchEnd): void {
    this.#over();
    this.#stop.abort(new Error('nobody watches any more'));
    for (const { leave } of this.#entries.values()) leave?.();
    this.#entries.clear();
    for (const viewer of this.#viewers) viewer.end(how);
  }

  /** Until it ends. What goes wrong is told, and tried again. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#look(signal);
        this.#problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        this.#publishProblem(error);
        if (error instanceof Fault && error.code === 'not_found') return this.end('over');
      }
      await sleep(this.#everyMs, undefined, { signal }).catch(() => undefined); // the loop sees the signal itself
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const view = await this.#watched.view(signal);
    const seen = view ? await view.containers() : [];
    if (view) await this.#readNew(view, seen);
    signal.throwIfAborted();
    const ids = new Set(seen.map(({ id }) => id));
    for (const entry of [...this.#entries.values()]) if (!ids.has(entry.id)) this.#drop(entry);
    this.#publishState(seen.map(({ shown }) => shown));
    if (view) for (const one of seen) await this.#follow(view, one);
  }

  /** What those that were not there before have printed so far, in the order of its time. */
  async #readNew(view: LiveView, seen: readonly SeenContainer[]): Promise<void> {
    const fresh = seen.filter(({ id }) => !this.#entries.has(id));
    if (fresh.length === 0) return;
    const secrets = await this.#watched.secrets();
    const ids = fresh.map(({ id }) => id);
    const output = await view.lastOutput(ids, mostTail, secrets);
    const lines = fresh.flatMap(({ id, shown }, index) => {
      const { name, process, replica, serverId, state, startedAt } = shown;
      const isOver = state === 'exited' || state === 'dead';
      const followedStart = isOver ? startedAt : undefined;
      const all = { id, name, process, replica, serverId, lines: new LogLines(secrets) };
      const entry: Entry = { ...all, lastAt: undefined, followedStart, leave: undefined };
      this.#entries.set(id, entry);
      return (output[index] ?? []).flatMap((piece) => this.#read(entry, piece));
    });
    lines.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
    for (const line of lines) this.#publish(line);
  }

  #read(entry: Entry, piece: LogPiece): LiveLine[] {
    entry.lastAt = piece.at;
    return entry.lines.push(piece).map((line) => liveLineOf(entry, line));
  }

  async #follow(view: LiveView, { id, shown }: SeenContainer): Promise<void> {
    const entry = this.#entries.get(id);
    // One that never ran has nothing to say yet. One that runs is followed, also where Docker broke off by itself.
    if (!entry || entry.leave || shown.startedAt === null) return;
    if (entry.followedStart === shown.startedAt && shown.state !== 'running') return;
    entry.followedStart = shown.startedAt;
    entry.leave = await view.follow({
      container: id,
      since: entry.lastAt === undefined ? undefined : justAfter(entry.lastAt),
      take: (piece) => {
        for (const line of this.#read(entry, piece)) this.#publish(line);
      },
      ended: (fault) => {
        entry.leave = undefined;
        if (fault) {
          entry.followedStart = undefined;
          this.#publishProblem(fault);
        } else for (const line of entry.lines.end()) this.#publish(liveLineOf(entry, line));
      },
    });
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.id);
    entry.leave?.();
    for (const line of entry.lines.end()) this.#publish(liveLineOf(entry, line));
  }

  #publish(line: LiveLine): void {
    this.#kept.push(line);
    this.#keptCharacters += line.line.length;
    while (this.#kept.length > mostTail || this.#keptCharacters > mostKeptCharacters)
      this.#keptCharacters -= this.#kept.shift()?.line.length ?? 0;
    // Before the first look is whole, nobody has caught up.
    if (this.#seen) for (const viewer of this.#viewers) viewer.line(line);
  }

  #publishState(containers: readonly ShownContainer[]): void {
    const key = JSON.stringify(containers.map(coarse));
    const isFirst = this.#seen === undefined;
    const isNews = key !== this.#seenKey || this.#problem !== undefined;
    this.#seen = containers;
    this.#seenKey = key;
    for (const viewer of this.#viewers) {
      if (isFirst) this.#greet(viewer, containers);
      else if (isNews) viewer.state(containers);
    }
  }

  #greet(viewer: Viewer, containers: readonly ShownContainer[]): void {
    viewer.state(containers);
    viewer.caughtUp(this.#kept);
  }

  /** The same one is told once, however often it is met. */
  #publishProblem(error: unknown): void {
    if (!(error instanceof Fault))
      this.#watched.log.warn({ reason: errorText(error) }, 'could not look at an app');
    const hidden = new Fault('internal_error', 'The app could not be looked at; it is tried again.');
    const fault = error instanceof Fault ? error : hidden;
    const isKnown = this.#problem?.code === fault.code && this.#problem.message === fault.message;
    this.#problem = fault;
    if (!isKnown) for (const viewer of this.#viewers) viewer.problem(fault);
  }
}

function liveLineOf({ name, process, replica, serverId }: Entry, line: LogLine): LiveLine {
  return { container: name, process, replica, serverId, ...line };
}

/** The memory of a living process never stands still. */
function coarse(one: ShownContainer) {
  return { ...one, memoryBytes: one.memoryBytes === null ? null : Math.round(one.memoryBytes / mebibyte) };
}
