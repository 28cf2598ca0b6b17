/**
 * The world outside the database, for operations to act on: a small server that remembers every act, refuses
 * whoever comes with an older epoch than it has seen, and can keep a caller waiting.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export class World {
  readonly url: string;
  /** How often each act was done; an act that was undone is gone. */
  readonly acts = new Map<string, number>();
  readonly undone: string[] = [];
  readonly refused: string[] = [];
  readonly #epochs = new Map<string, number>();
  readonly #gates = new Map<string, { arrived: () => void; open: Promise<void> }>();

  private constructor(server: Server) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  static async start(t: TestContext): Promise<World> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const world = new World(server);
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return world;
  }

  /** The acts of one operation, in the order of their steps. */
  actsOf(operationId: string): [string, number][] {
    const own = [...this.acts].filter(([key]) => key.startsWith(`${operationId}/`));
    return own.map(([key, count]) => [key.slice(operationId.length + 1), count]);
  }

  /** Keeps the caller of this act waiting: resolves `arrived` when it is there, lets it go by `open`. */
  gate(key: string): { arrived: Promise<void>; open: () => void } {
    let arrived = () => {};
    let open = () => {};
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gates.set(key, { arrived, open: opened });
    return { arrived: here, open };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = decodeURIComponent((request.url ?? '').slice(1));
    const operationId = key.split('/')[0] ?? '';
    const epoch = Number(request.headers['x-epoch']);
    const gate = request.method === 'POST' ? this.#gates.get(key) : undefined;
    if (gate) {
      gate.arrived();
      await gate.open;
    }
    const highest = this.#epochs.get(operationId) ?? 0;
    if (epoch < highest) {
      this.refused.push(key);
      return void response.writeHead(409).end();
    }
    this.#epochs.set(operationId, epoch);
    if (request.method === 'GET') return void response.writeHead(this.acts.has(key) ? 200 : 404).end();
    if (request.method === 'DELETE') {
      if (this.acts.delete(key)) this.undone.push(key);
    } else {
      this.acts.set(key, (this.acts.get(key) ?? 0) + 1);
    }
    response.writeHead(204).end();
  }
}
