/**
 * Server-Sent Events: feeds, over HTTP. Owns the open streams of this instance: their heartbeat, their end, and
 * that each ends at once when its session ends. A reader that does not keep up is cut; it comes back with
 * `Last-Event-ID` and misses nothing.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { second } from '../clock.ts';
import { type FeedKey, feedState, readEvents, type StoredEvent } from '../events/events.ts';
import type { FeedHub, Subscriber } from '../events/feed-hub.ts';
import { errorText, Fault } from '../fault.ts';
import type { ProjectId } from '../ids.ts';
import {
  type Credential,
  isSamePlace,
  type Membership,
  type Principal,
  type Sessions,
} from '../principal.ts';
import type { Database } from '../store/database.ts';
import type { NotifyHandler } from '../store/listener.ts';
import { principalOf } from './scope.ts';

const heartbeatMs = 15 * second;
const heartbeat = Buffer.from(':\n\n');
/** Beats go to one part of the streams after the other: to all at once they take as long as an event, which would wait. */
const beatParts = 15;
/** What may wait in our memory for one slow reader. */
const mostWaitingBytes = 256 * 1024;

export function formatEvent({ position, kind, at, data }: StoredEvent): string {
  return `id: ${position}\nevent: ${kind}\ndata: ${JSON.stringify({ kind, at: at.toISOString(), ...data })}\n\n`;
}

export interface StreamRequest {
  readonly feed: FeedKey;
  /** Where to begin if the caller does not say: with what is there, or with what comes. */
  readonly from: 'beginning' | 'now';
  /** A finite stream ends with its `end` event. */
  readonly finite: boolean;
  /** What a finite one tells of has ended: where nothing of it is kept any more, there is nothing to wait for. */
  readonly isOver?: boolean;
  /** Of a workspace's feed, only what is about these projects. */
  readonly projects?: readonly ProjectId[] | null;
}

export class Streams implements NotifyHandler {
  readonly #db: Database;
  readonly #hub: FeedHub;
  readonly #sessions: Sessions;
  readonly #log: Logger;
  readonly #beatMs: number;
  readonly #open = new Map<Credential['id'], Set<Stream>>();
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #part = 0;
  #opened = 0;
  #closed = false;

  constructor(db: Database, hub: FeedHub, sessions: Sessions, log: Logger, beatMs = heartbeatMs) {
    this.#beatMs = beatMs;
    this.#db = db;
    this.#hub = hub;
    this.#sessions = sessions;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#beat(), this.#beatMs / beatParts).unref();
  }

  /** Ends all streams, so that the server can close; their readers come back to whoever serves next. */
  stop(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    for (const stream of this.#all()) stream.end();
  }

  async open(request: FastifyRequest, reply: FastifyReply, wanted: StreamRequest): Promise<void> {
    const principal = principalOf(request);
    const state = await feedState(this.#db, wanted.feed);
    if (wanted.isOver && state.position === 0) {
      reply.code(204).send();
      return;
    }
    const after = readPosition(request, state.position) ?? (wanted.from === 'now' ? state.position : 0);
    if (this.#closed) throw new Fault('shutting_down', 'The service is stopping.');
    const allGone = state.position > 0 && state.prunedTo === state.position;
    if (wanted.finite && (allGone || (after > 0 && (await hasEnded(this.#db, wanted.feed, after))))) {
      reply.code(204).send();
      return;
    }

    reply.hijack();
    reply.raw.writeHead(200, {
      ...headersOf(reply),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const stream = new Stream(reply.raw, wanted, principal, after, () => this.#forget(stream));
    this.#opened += 1;
    stream.beatPart = this.#opened % beatParts;
    // Where the log was shortened past the reader's place, it is told, instead of being left with a hole.
    stream.greet(after < state.prunedTo ? resetMessage(state.prunedTo) : '');
    stream.position = Math.max(after, state.prunedTo);
    // Its reader may have gone meanwhile: then no event would make us forget it.
    if (reply.raw.closed) return;
    this.#remember(stream);
    this.#hub.subscribe(stream);
  }

  get count(): number {
    return this.#hub.subscriberCount;
  }

  /** Called when somebody's session, token or place may have changed; for answers that are no feeds. Gives back its end. */
  watchAccess(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  /** A session or a token that ended, or `check`: someone's place in a workspace changed. */
  onNotify(ended: string): void {
    for (const changed of this.#watchers) changed();
    if (ended === 'check') return void this.#endLost();
    for (const [id, streams] of this.#open) if (id === ended) for (const stream of streams) stream.end();
  }

  onReconnect(): void {
    for (const changed of this.#watchers) changed();
    void this.#endLost();
  }

  async #beat(): Promise<void> {
    this.#part = (this.#part + 1) % beatParts;
    for (const stream of this.#all()) if (stream.beatPart === this.#part) stream.write(heartbeat);
    if (this.#part === 0) await this.#endLost();
  }

  /**
   * Asks again who stands behind the streams, and whether their place is still what it was: one whose role was lowered
   * comes back as what they are now. A lost notice costs a beat.
   */
  async #endLost(): Promise<void> {
    try {
      const behind = [...this.#all()].map(({ credential }) => credential);
      const principals = await this.#sessions.byCredentials(behind);
      for (const stream of this.#all())
        if (!stream.maySee(principals.get(stream.credential.id))) stream.end();
    } catch (error) {
      this.#log.warn({ reason: errorText(error) }, 'could not check the sessions of streams, trying again');
    }
  }

  #remember(stream: Stream): void {
    const { id } = stream.credential;
    const streams = this.#open.get(id) ?? new Set();
    this.#open.set(id, streams.add(stream));
  }

  #forget(stream: Stream): void {
    const { id } = stream.credential;
    this.#hub.unsubscribe(stream);
    const streams = this.#open.get(id);
    streams?.delete(stream);
    if (streams?.size === 0) this.#open.delete(id);
  }

  *#all(): Iterable<Stream> {
    for (const streams of this.#open.values()) yield* streams;
  }
}

class Stream implements Subscriber {
  readonly feed: FeedKey;
  position: number;
  beatPart = 0;
  readonly #response: ServerResponse;
  readonly #finite: boolean;
  readonly #projects: ReadonlySet<unknown> | undefined;
  readonly #place: Membership | undefined;
  readonly #forget: () => void;
  readonly credential: Credential;

  constructor(
    response: ServerResponse,
    wanted: StreamRequest,
    principal: Principal,
    position: number,
    forget: () => void,
  ) {
    this.#response = response;
    this.#finite = wanted.finite;
    this.#projects = wanted.projects ? new Set(wanted.projects) : undefined;
    this.#forget = forget;
    this.feed = wanted.feed;
    this.credential = principal.credential;
    this.#place = this.#placeOf(principal);
    this.position = position;
    response.once('close', forget);
  }

  /**
   * The first bytes, so that the reader knows it is connected; how soon to come back, and after what: one that is cut off
   * before its first event would else begin anew with what comes next, and miss what was between.
   */
  greet(message: string): void {
    this.#response.write(`retry: 1000\nid: ${this.position}\n\n${message}`);
  }

  maySee(now: Principal | undefined): boolean {
    return now !== undefined && isSamePlace(this.#placeOf(now), this.#place);
  }

  #placeOf({ memberships }: Principal): Membership | undefined {
    return memberships.find(({ id }) => id === this.feed.workspaceId);
  }

  take(events: readonly StoredEvent[], bytes: Buffer): boolean {
    const own = this.#projects && events.filter(({ data }) => this.#projects?.has(data.projectId));
    if (!this.write(own ? Buffer.from(own.map(formatEvent).join('')) : bytes)) return false;
    if (!this.#finite || events.at(-1)?.kind !== 'end') return true;
    this.end();
    return false;
  }

  write(bytes: Buffer): boolean {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return false;
    response.write(bytes);
    if (response.writableLength <= mostWaitingBytes) return true;
    response.destroy();
    return false;
  }

  async drained(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  }

  end(): void {
    this.#forget();
    this.#response.end();
  }
}

function resetMessage(position: number): string {
  const data = { kind: 'reset', at: new Date().toISOString(), reason: 'Older events are no longer kept.' };
  return `id: ${position}\nevent: reset\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whether the reader has the last event of a stream that is over: it is told to come no more. */
async function hasEnded(db: Database, feed: FeedKey, after: number): Promise<boolean> {
  const [at, beyond] = await readEvents(db, feed, {
    after: after - 1,
    upTo: Number.MAX_SAFE_INTEGER,
    limit: 2,
  });
  return at?.kind === 'end' && beyond === undefined;
}

function headersOf(reply: FastifyReply): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = String(value);
  return headers;
}

/** `Last-Event-ID`, as a browser sends it when it comes back, or `?after=`. */
function readPosition(request: FastifyRequest, newest: number): number | undefined {
  const header = request.headers['last-event-id'];
  const query: unknown = Object(request.query).after;
  const given = header ?? query;
  if (given === undefined) return undefined;
  const position = /^\d{1,15}$/.test(String(given)) ? Number(given) : Number.NaN;
  if (position <= newest) return position;
  const path = header === undefined ? 'after' : 'Last-Event-ID';
  const message = 'is not a position that this stream gave out; leave it away to begin anew';
  throw new Fault('invalid_input', `${path} ${message}.`, { errors: [{ path, message }] });
}
