/** People who visit an environment through every proxy of its cluster. */
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

interface CrowdOptions {
  /** Of each proxy. */
  readonly each?: number;
  readonly goesElsewhere?: boolean;
  /** Where they go when nobody takes them anywhere else. */
  readonly atLast?: readonly string[];
  /** Between two requests of one. */
  readonly restMs?: number;
}

export interface Missed {
  readonly visitor: number;
  /** Which proxy it comes to first. */
  readonly place: number;
  readonly begunAt: number;
  readonly at: number;
  readonly what: string;
}

/** People who come through every proxy at once, on connections that they keep. */
export class Crowd {
  readonly failures: Missed[] = [];
  readonly seen = new Set<string>();
  answered = 0;
  /** By a server that took no connection, before the next was asked. */
  turnedAway = 0;
  #goesOn = true;
  readonly #restMs: number;
  readonly #all: Promise<void>[];

  constructor(
    urls: readonly string[],
    { each = 4, goesElsewhere = false, atLast = [], restMs = 0 }: CrowdOptions = {},
  ) {
    this.#restMs = restMs;
    this.#all = urls.flatMap((url, place) => {
      const others = goesElsewhere ? [...urls.slice(place + 1), ...urls.slice(0, place)] : [];
      const places = [url, ...others, ...atLast];
      return Array.from({ length: each }, (_, index) => this.#go(places, place, place * each + index));
    });
  }

  async #go(places: readonly string[], place: number, visitor: number): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    while (this.#goesOn) {
      const begunAt = Date.now();
      try {
        this.seen.add(await this.#visitOne(places, agent));
        this.answered += 1;
      } catch (error) {
        this.failures.push({ visitor, place, begunAt, at: Date.now(), what: `${places[0]}: ${error}` });
      }
      if (this.#restMs > 0) await sleep(this.#restMs);
    }
    agent.destroy();
  }

  /** As a browser does with a name of several addresses: where nobody takes the request, the next is asked. */
  async #visitOne([first = '', ...others]: readonly string[], agent: http.Agent): Promise<string> {
    try {
      return await visit(first, agent);
    } catch (error) {
      if (!(error instanceof NotTaken) || others.length === 0) throw error;
      this.turnedAway += 1;
      return this.#visitOne(others, agent);
    }
  }

  /** When the last request under way is answered. */
  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}

/** No connection came about, or one that was kept had ended: nobody has seen the request. */
class NotTaken extends Error {}

const notTaken = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH']);
const connectMs = 2_000;

/** The release that answers. */
export async function visit(url: string, agent?: http.Agent): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  const request = http.get(url, { agent, timeout: 60_000 }, resolve);
  request
    .once('error', (error) => {
      const { code } = Object(error);
      const isOld = request.reusedSocket && code === 'ECONNRESET';
      const isTaken = !isOld && !notTaken.has(code) && !(error instanceof NotTaken);
      reject(isTaken ? error : new NotTaken(String(error)));
    })
    .once('timeout', () => reject(new Error('no answer within a minute')))
    .once('socket', (socket) => {
      if (!socket.connecting) return;
      const late = setTimeout(() => request.destroy(new NotTaken('no connection')), connectMs);
      for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(late));
    });
  const answer = await promise;
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${body.slice(0, 200)}`);
  return body.startsWith('{') ? String(JSON.parse(body).app) : body;
}
