/**
 * Delivers events to the subscribers on this instance. New events of a feed are read once and delivered to all its
 * subscribers as the same bytes. Positions have no gaps, so a subscriber is either exactly at the front, or it
 * catches up first: nothing is missed and nothing comes twice.
 */
import type { Logger } from 'pino';
import { errorText } from '../fault.ts';
import type { Database } from '../store/database.ts';
import type { NotifyHandler } from '../store/listener.ts';
import {
  type EventRange,
  type FeedKey,
  feedName,
  feedState,
  readEvents,
  type StoredEvent,
} from './events.ts';

/** Takes events, in order. */
export interface Subscriber {
  readonly feed: FeedKey;
  /** The last position it has; moved by the hub. */
  position: number;
  /** `false`: it is gone, or wants no more. */
  take(events: readonly StoredEvent[], bytes: Buffer): boolean;
  /** Resolves when it can take more, or is gone. */
  drained(): Promise<void>;
}

interface Feed {
  readonly key: FeedKey;
  readonly live: Set<Subscriber>;
  readonly behind: Set<Subscriber>;
  /** How far this feed was read here; undefined until known. */
  position: number | undefined;
  /** There may be something new that was not read yet. */
  dirty: boolean;
  reading: boolean;
}

const pageSize = 500;
/** Finds events whose notification was lost. */
const pollMs = 5_000;

export class FeedHub implements NotifyHandler {
  readonly #db: Database;
  readonly #log: Logger;
  readonly #format: (event: StoredEvent) => string;
  readonly #feeds = new Map<string, Feed>();
  #timer: NodeJS.Timeout | undefined;

  constructor(db: Database, log: Logger, format: (event: StoredEvent) => string) {
    this.#db = db;
    this.#log = log;
    this.#format = format;
  }

  start(): void {
    this.#timer = setInterval(() => this.onReconnect(), pollMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#feeds.clear();
  }

  onNotify(payload: string): void {
    const [name = '', position = ''] = payload.split(' ');
    const feed = this.#feeds.get(name);
    if (!feed) return;
    if (feed.position !== undefined && Number(position) <= feed.position) return;
    feed.dirty = true;
    this.#advance(feed);
  }

  onReconnect(): void {
    for (const feed of this.#feeds.values()) {
      feed.dirty = true;
      this.#advance(feed);
    }
  }

  /** Begins after the subscriber's position. Ends by `unsubscribe`, or when the subscriber says it is gone. */
  subscribe(subscriber: Subscriber): void {
    const name = feedName(subscriber.feed);
    let feed = this.#feeds.get(name);
    if (!feed) {
      const key = subscriber.feed;
      feed = { key, live: new Set(), behind: new Set(), position: undefined, dirty: false, reading: false };
      this.#feeds.set(name, feed);
    }
    feed.behind.add(subscriber);
    if (feed.position === undefined) this.#advance(feed);
    else this.#catchUp(feed, subscriber);
  }

  unsubscribe(subscriber: Subscriber): void {
    const name = feedName(subscriber.feed);
    const feed = this.#feeds.get(name);
    if (!feed) return;
    feed.live.delete(subscriber);
    feed.behind.delete(subscriber);
    if (feed.live.size + feed.behind.size === 0) this.#feeds.delete(name);
  }

  get subscriberCount(): number {
    let count = 0;
    for (const feed of this.#feeds.values()) count += feed.live.size + feed.behind.size;
    return count;
  }

  /** Reads what is new and hands it to everyone at the front. One at a time per feed. */
  async #advance(feed: Feed): Promise<void> {
    if (feed.reading) return;
    feed.reading = true;
    try {
      if (feed.position === undefined) {
        feed.position = (await feedState(this.#db, feed.key)).position;
        for (const subscriber of feed.behind) this.#catchUp(feed, subscriber);
      }
      while (feed.dirty && this.#hasSubscribers(feed)) {
        feed.dirty = false;
        const range: EventRange = { after: feed.position, upTo: Number.MAX_SAFE_INTEGER, limit: pageSize };
        const events: StoredEvent[] = await readEvents(this.#db, feed.key, range).catch((error) => {
          feed.dirty = true;
          throw error;
        });
        const last: StoredEvent | undefined = events.at(-1);
        if (!last) continue;
        feed.position = last.position;
        feed.dirty ||= events.length === pageSize;
        this.#deliver(feed, events, last.position);
      }
    } catch (error) {
      this.#log.warn({ reason: errorText(error) }, 'could not read events, trying again');
    } finally {
      feed.reading = false;
    }
  }

  #deliver(feed: Feed, events: readonly StoredEvent[], position: number): void {
    const bytes = this.#bytes(events);
    for (const subscriber of feed.live) {
      // One that comes from another instance may have seen more than this one has read until now.
      const isAhead = subscriber.position >= (events[0]?.position ?? 0);
      const own = isAhead ? events.filter((event) => event.position > subscriber.position) : events;
      if (own.length === 0) continue;
      subscriber.position = position;
      if (!subscriber.take(own, isAhead ? this.#bytes(own) : bytes)) this.unsubscribe(subscriber);
    }
  }

  /** Reads the backlog of one subscriber, as fast as it takes it. */
  async #catchUp(feed: Feed, subscriber: Subscriber): Promise<void> {
    try {
      while (feed.behind.has(subscriber)) {
        const front = feed.position ?? 0;
        if (subscriber.position >= front) {
          // No await between the check and the move: nothing can come in between.
          feed.behind.delete(subscriber);
          feed.live.add(subscriber);
          return;
        }
        const range = { after: subscriber.position, upTo: front, limit: pageSize };
        const events = await readEvents(this.#db, feed.key, range);
        // Everything up to the front may have been removed with age meanwhile.
        subscriber.position = events.at(-1)?.position ?? front;
        if (!feed.behind.has(subscriber)) return;
        if (events.length > 0 && !subscriber.take(events, this.#bytes(events)))
          return this.unsubscribe(subscriber);
        await subscriber.drained();
      }
    } catch (error) {
      this.#log.warn({ reason: errorText(error) }, 'could not read events for a subscriber, trying again');
      setTimeout(() => void this.#catchUp(feed, subscriber), 500).unref();
    }
  }

  #bytes(events: readonly StoredEvent[]): Buffer {
    return Buffer.from(events.map(this.#format).join(''), 'utf8');
  }

  #hasSubscribers(feed: Feed): boolean {
    return this.#feeds.get(feedName(feed.key)) === feed;
  }
}
