/**
 * The way to one server: one connection, made when it is first needed and made again when it breaks, with a pause that
 * grows with every failure. Nobody waits for it longer than their own limit.
 */
import type { Logger } from 'pino';
import { errorText, Fault } from '../../fault.ts';
import type { RemoteTarget } from '../remote.ts';
import { connectWith } from './connect.ts';
import { ChannelRefused, type Connection } from './connection.ts';
import type { Limit } from './deadline.ts';
import { type ChannelUse, Slots } from './slots.ts';

/** sshd takes ten sessions a connection unless told otherwise; two are left for killing what has run too long. */
const mostChannels = 8;
const idleMs = 5 * 60_000;
const longestPauseMs = 30_000;

/** Trying again soon changes nothing about these, and a server that counts failed logins would shut us out. */
const lasting = new Set(['host_key_changed', 'login_refused', 'name_not_resolved', 'ssh_algorithms_weak']);

/** What it takes from outside; tests give their own time and their own connections. */
export interface LinkMeans {
  readonly connect: typeof connectWith;
  now(): number;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const realMeans: LinkMeans = { connect: connectWith, now: Date.now, pause: pauseFor };

export class Link {
  readonly target: RemoteTarget;
  readonly #means: LinkMeans;
  readonly #log: Logger;
  readonly #slots = new Slots(mostChannels);
  readonly #stop = new AbortController();
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #failures = 0;
  #lastFault: Fault | undefined;
  #retryAt = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(target: RemoteTarget, log: Logger, means: LinkMeans = realMeans) {
    this.target = target;
    this.#means = means;
    this.#log = log.child({ serverId: target.serverId });
  }

  /**
   * Does the work with a channel's place on the connection. The work says when the place is free again, which may be
   * after it has failed; only where the server refuses the channel it leaves that to us.
   */
  async withPlace<T>(
    owner: object,
    use: ChannelUse,
    limit: Limit,
    work: (connection: Connection, free: () => void) => Promise<T>,
  ): Promise<T> {
    for (let refusals = 0; ; ) {
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      const signal = AbortSignal.any([limit.signal, this.#stop.signal]);
      const give = await this.#slots.take(owner, use, signal);
      clearTimeout(this.#idle);
      const connection = await this.#connected(limit, signal).catch((error) => {
        this.#leave(undefined, give);
        throw error;
      });
      connection.users += 1;
      const free = once(() => this.#leave(connection, give));
      try {
        return await work(connection, free);
      } catch (error) {
        if (!(error instanceof ChannelRefused)) throw error;
        const isAlone = this.#slots.taken < 2;
        if (!isAlone) this.#slots.shrink();
        free();
        refusals += isAlone ? 1 : 0;
        if (refusals > 20) throw tooManySessions(error);
        // sshd counts a session until it has buried its process, which is a moment after we hear of its end.
        if (isAlone) await this.#means.pause(50, signal);
      }
    }
  }

  /** The connection holds something that could not be ended: who comes next gets a new one. */
  retire(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  /** For what no caller waits for any more. */
  tell(error: unknown, what: string): void {
    this.#log.warn({ evidence: errorText(error) }, what);
  }

  #leave(connection: Connection | undefined, give: () => void): void {
    if (connection) connection.users -= 1;
    if (connection && connection !== this.#connection && connection.users === 0) void connection.close();
    give();
    this.#restIfIdle();
  }

  async close(reason: Fault): Promise<void> {
    clearTimeout(this.#idle);
    this.#stop.abort(reason);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #connected(limit: Limit, signal: AbortSignal): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    const pause = this.#retryAt - this.#means.now();
    if (this.#lastFault && pause > 0) {
      if (lasting.has(this.#lastFault.code) || this.#retryAt > limit.endsAt) throw this.#lastFault;
      await this.#means.pause(pause, signal);
      return this.#connected(limit, signal);
    }
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return limit.race(this.#connecting);
  }

  async #connect(): Promise<Connection> {
    const { host, port, username, privateKey, hostKey } = this.target;
    const begun = this.#means.now();
    try {
      const connection = await this.#means.connect({
        host,
        port,
        username,
        auth: { privateKey },
        expectedHostKey: hostKey,
        signal: this.#stop.signal,
      });
      this.#failures = 0;
      this.#lastFault = undefined;
      this.#connection = connection;
      this.#slots.grow(mostChannels);
      this.#log.debug({ ms: this.#means.now() - begun }, 'connected to the server');
      void connection.closed.then((why) =>
        this.#log.debug({ why }, 'the connection to the server has ended'),
      );
      return connection;
    } catch (error) {
      if (error instanceof Fault) this.#failed(error);
      throw error;
    }
  }

  #failed(fault: Fault): void {
    this.#failures += 1;
    this.#lastFault = fault;
    this.#retryAt = this.#means.now() + Math.min(longestPauseMs, 500 * 2 ** (this.#failures - 1));
    this.#log.info({ fault: fault.code, evidence: fault.evidence }, 'cannot connect to the server');
  }

  #restIfIdle(): void {
    if (this.#slots.taken > 0 || this.#stop.signal.aborted) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      const connection = this.#connection;
      this.#connection = undefined;
      void connection?.close();
    }, idleMs);
    this.#idle.unref();
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

function tooManySessions(cause: Error): Fault {
  return new Fault('remote_unreachable', 'The server opens no session on the connection.', {
    hint: 'Check MaxSessions in its sshd settings.',
    evidence: cause.message,
    cause,
  });
}
