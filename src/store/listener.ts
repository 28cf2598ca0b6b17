/**
 * LISTEN: what other instances notify. One open connection; when it breaks it is reopened, and every handler is called,
 * since something may have been missed. A notification is only a hint; the tables are the truth.
 */
import pg from 'pg';
import type { Logger } from 'pino';
import { errorText } from '../fault.ts';

export interface NotifyHandler {
  onNotify(payload: string): void;
  /** The connection was lost for a while: something may have been missed. */
  onReconnect(): void;
}

const maxPauseMs = 5_000;

export class Listener {
  readonly #connection: pg.ClientConfig;
  readonly #log: Logger;
  readonly #handlers = new Map<string, NotifyHandler>();
  #client: pg.Client | undefined;
  #stopped = false;
  #pauseMs = 100;

  constructor(connection: pg.ClientConfig, log: Logger) {
    this.#connection = connection;
    this.#log = log;
  }

  /** Before the start or after it; one handler a channel. */
  async on(channel: string, handler: NotifyHandler): Promise<void> {
    this.#handlers.set(channel, handler);
    if (this.#client) await listenTo(this.#client, channel);
  }

  off(channel: string): void {
    this.#handlers.delete(channel);
  }

  async start(): Promise<void> {
    await this.#connect();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      ...this.#connection,
      application_name: 'slipway listener',
      keepAlive: true,
    });
    client.on('notification', ({ channel, payload }) => {
      this.#handlers.get(channel)?.onNotify(payload ?? '');
    });
    client.on('error', () => undefined); // always followed by `end`
    // A failed connect is reported by the throw below: were both to retry, each failure would double the attempts.
    client.once('end', () => {
      if (this.#client === client) this.#reconnect();
    });
    try {
      await client.connect();
      // Stopped meanwhile, before this client was known.
      if (this.#stopped) return await client.end();
      for (const channel of this.#handlers.keys()) await listenTo(client, channel);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
    this.#pauseMs = 100;
  }

  #reconnect(): void {
    if (this.#stopped) return;
    this.#client = undefined;
    const timer = setTimeout(async () => {
      if (this.#stopped) return;
      try {
        await this.#connect();
        for (const handler of this.#handlers.values()) handler.onReconnect();
      } catch (error) {
        this.#log.warn({ reason: errorText(error) }, 'cannot listen for notifications, trying again');
        this.#reconnect();
      }
    }, this.#pauseMs);
    timer.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, maxPauseMs);
  }
}

async function listenTo(client: pg.Client, channel: string): Promise<void> {
  await client.query(`listen ${client.escapeIdentifier(channel)}`);
}
