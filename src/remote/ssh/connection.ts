/** An open connection: to whom, and when it ends. */
import type { Client, ClientChannel } from 'ssh2';
import { errorText, Fault } from '../../fault.ts';
import type { HostKeyFingerprint } from '../remote.ts';

export interface HostKey {
  readonly fingerprint: HostKeyFingerprint;
  /** `ssh-ed25519`, for example. */
  readonly type: string;
}

export class Connection {
  readonly hostKey: HostKey;
  /** Resolves with the reason, once it has ended. Never rejects. */
  readonly closed: Promise<string>;
  isOpen = true;
  /** Undefined until it was checked. */
  isRoot: boolean | undefined;
  /** Set once sudo was checked. */
  maySudo = false;
  /** How many slots on it are in use. */
  users = 0;
  /** One at a time, so that killing many commands needs only one channel more. */
  kills: Promise<unknown> = Promise.resolve();
  readonly #client: Client;
  readonly #onLost = new Set<(why: string) => void>();

  constructor(client: Client, hostKey: HostKey, isRoot: boolean) {
    this.#client = client;
    this.hostKey = hostKey;
    if (isRoot) this.isRoot = true;
    let reason = 'the connection was closed';
    client.on('error', (error) => {
      reason = errorText(error);
      this.isOpen = false;
    });
    this.closed = new Promise((resolve) => {
      client.once('end', () => {
        this.isOpen = false;
      });
      client.once('close', () => {
        this.isOpen = false;
        for (const tell of this.#onLost) tell(reason);
        resolve(reason);
      });
    });
  }

  /**
   * For a command that runs on it: told of its end, until that is taken back. Whoever waits for `closed` instead is kept
   * for as long as the connection lasts, which may be weeks, with everything that the command printed.
   */
  onLost(tell: (why: string) => void): () => void {
    this.#onLost.add(tell);
    return () => void this.#onLost.delete(tell);
  }

  /**
   * Starts the command line in a channel of its own. A short command's exit code can arrive in the same packet as the
   * news that it was started, so the channel is handed over synchronously.
   */
  exec<T>(line: string, adopt: (channel: ClientChannel) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) throw connectionLost('it was closed');
      this.#client.exec(line, (error, channel) => {
        if (!error) resolve(adopt(channel));
        else if (this.isOpen && /Channel open failure/.test(error.message)) reject(new ChannelRefused(error));
        else reject(connectionLost(error.message));
      });
    });
  }

  /** In order, or after a second by force. */
  async close(): Promise<void> {
    this.isOpen = false;
    this.#client.end();
    const giveUp = setTimeout(() => this.#client.destroy(), 1_000);
    await this.closed;
    clearTimeout(giveUp);
  }
}

/** The server has as many sessions on this connection as its sshd allows. */
export class ChannelRefused extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
    this.name = 'ChannelRefused';
  }
}

export function connectionLost(why: string): Fault {
  return new Fault('remote_unreachable', 'The connection to the server was lost.', {
    hint: 'A running command may or may not have finished there.',
    evidence: why,
  });
}
