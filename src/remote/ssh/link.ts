/**
 * The shared connection to one server: opened on first use, reopened when it breaks, with exponential backoff. Nobody
 * waits for it longer than their own deadline.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { errorText, Fault } from '../../fault.ts';
import type { RemoteTarget } from '../remote.ts';
import { connectWith } from './connect.ts';
import { ChannelRefused, type Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { type ChannelUse, Slots } from './slots.ts';
import type { ResolveHost } from './tcp.ts';

/** sshd allows ten sessions a connection by default; two are reserved for killing what has run too long. */
const maxChannels = 8;
const idleMs = 5 * 60_000;
const maxPauseMs = 30_000;

/** Not retried soon: that changes nothing, and a server that counts failed logins would ban us. */
const permanentCodes = new Set([
  'egress_refused',
  'host_key_changed',
  'login_refused',
  'name_not_resolved',
  'ssh_algorithms_weak',
]);

/** Tests pass their own time and connections. */
export interface LinkDependencies {
  readonly connect: typeof connectWith;
  now(): number;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const pause: LinkDependencies['pause'] = (ms, signal) =>
  sleep(ms, undefined, { signal }).catch(() => Promise.reject(signal.reason));
const defaultDependencies: LinkDependencies = { connect: connectWith, now: Date.now, pause };

export class Link {
  readonly target: RemoteTarget;
  readonly #resolve: ResolveHost;
  readonly #dependencies: LinkDependencies;
  readonly #log: Logger;
  readonly #slots = new Slots(maxChannels);
  readonly #stop = new AbortController();
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #failures = 0;
  #lastFault: Fault | undefined;
  #retryAt = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    target: RemoteTarget,
    resolve: ResolveHost,
    log: Logger,
    dependencies: LinkDependencies = defaultDependencies,
  ) {
    this.target = target;
    this.#resolve = resolve;
    this.#dependencies = dependencies;
    this.#log = log.child({ serverId: target.serverId });
  }

  /**
   * Does the work with a slot for a channel. The work calls `free` when the slot is free again, which may be after it has
   * failed; where the server refuses the channel, that is done here.
   */
  async withChannel<T>(
    owner: object,
    use: ChannelUse,
    deadline: Deadline,
    work: (connection: Connection, free: () => void) => Promise<T>,
  ): Promise<T> {
    for (let refusals = 0; ; ) {
      if (this.#stop.signal.aborted) throw this.#stop.signal.reason;
      const signal = AbortSignal.any([deadline.signal, this.#stop.signal]);
      const release = await this.#slots.take(owner, use, signal);
      clearTimeout(this.#idle);
      const connection = await this.#connected(deadline, signal).catch((error) => {
        this.#leave(undefined, release);
        throw error;
      });
      connection.users += 1;
      let isFree = false;
      const free = () => {
        if (isFree) return;
        isFree = true;
        this.#leave(connection, release);
      };
      try {
        return await work(connection, free);
      } catch (error) {
        if (!(error instanceof ChannelRefused)) throw error;
        const isAlone = this.#slots.taken < 2;
        if (!isAlone) this.#slots.shrink();
        free();
        refusals += isAlone ? 1 : 0;
        if (refusals > 20) throw tooManySessions(error);
        // sshd counts a session until it has reaped its process, which is a moment after we see its end.
        if (isAlone) await this.#dependencies.pause(50, signal);
      }
    }
  }

  /** Something on this connection could not be killed: the next caller gets a new one. */
  retire(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
  }

  /** For failures that no caller waits for any more. */
  warn(error: unknown, what: string): void {
    this.#log.warn({ evidence: errorText(error) }, what);
  }

  #leave(connection: Connection | undefined, release: () => void): void {
    if (connection) connection.users -= 1;
    if (connection && connection !== this.#connection && connection.users === 0) void connection.close();
    release();
    this.#closeWhenIdle();
  }

  async close(reason: Fault): Promise<void> {
    clearTimeout(this.#idle);
    this.#stop.abort(reason);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #connected(deadline: Deadline, signal: AbortSignal): Promise<Connection> {
    if (this.#connection?.isOpen) return this.#connection;
    const pause = this.#retryAt - this.#dependencies.now();
    if (this.#lastFault && pause > 0) {
      if (permanentCodes.has(this.#lastFault.code) || this.#retryAt > deadline.endsAt) throw this.#lastFault;
      await this.#dependencies.pause(pause, signal);
      return this.#connected(deadline, signal);
    }
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return deadline.race(this.#connecting);
  }

  async #connect(): Promise<Connection> {
    const { host, port, username, privateKey, hostKey } = this.target;
    const startedAt = this.#dependencies.now();
    try {
      const connection = await this.#dependencies.connect({
        host,
        port,
        resolve: this.#resolve,
        username,
        auth: { privateKey },
        expectedHostKey: hostKey,
        signal: this.#stop.signal,
      });
      this.#failures = 0;
      this.#lastFault = undefined;
      this.#connection = connection;
      this.#slots.grow(maxChannels);
      this.#log.debug({ ms: this.#dependencies.now() - startedAt }, 'connected to the server');
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
    this.#retryAt = this.#dependencies.now() + Math.min(maxPauseMs, 500 * 2 ** (this.#failures - 1));
    this.#log.info({ fault: fault.code, evidence: fault.evidence }, 'cannot connect to the server');
  }

  #closeWhenIdle(): void {
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

function tooManySessions(cause: Error): Fault {
  return new Fault('remote_unreachable', 'The server opens no session on the connection.', {
    hint: 'Check MaxSessions in its sshd settings.',
    evidence: cause.message,
    cause,
  });
}
