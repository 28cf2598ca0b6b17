/** Thousands of open streams to one server, each on a socket of its own, timed when something arrives. */
import { connect, type Socket } from 'node:net';

export class ManyStreams {
  readonly #sockets: Socket[] = [];
  #arrivals: number[] = [];
  #all: (() => void) | undefined;

  get size(): number {
    return this.#sockets.length;
  }

  async open(url: string, headers: Record<string, string>, count: number): Promise<void> {
    for (let left = count; left > 0; left -= 100) {
      await Promise.all(
        Array.from({ length: Math.min(100, left) }, () => this.#openOne(new URL(url), headers)),
      );
    }
  }

  /** Fires, and waits until every stream has got something: how long after the firing, for each. */
  async round(fire: () => Promise<unknown>): Promise<number[]> {
    this.#arrivals = [];
    const all = new Promise<void>((resolve) => {
      this.#all = resolve;
    });
    const began = performance.now();
    await Promise.all([fire(), all]);
    return this.#arrivals.map((at) => at - began);
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #openOne(url: URL, headers: Record<string, string>): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(url.port), url.hostname);
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      socket.write([`GET ${url.pathname} HTTP/1.1`, `host: ${url.host}`, ...lines, '', ''].join('\r\n'));
      socket.once('error', reject);
      socket.once('data', (head) => {
        if (!head.toString('latin1').startsWith('HTTP/1.1 200'))
          return reject(new Error(head.toString('latin1')));
        this.#sockets.push(socket);
        socket.on('data', (bytes) => {
          if (bytes.includes('data:')) this.#arrived();
        });
        resolve();
      });
    });
  }

  #arrived(): void {
    if (this.#arrivals.push(performance.now()) === this.#sockets.length) this.#all?.();
  }
}
