/** The proxy on a lab server with small applications behind it, and visitors that count what they did not get. */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { admitAndCheck } from '../../src/adapters/proxy/check-through.ts';
import type { ProxyFront, ProxyServer, ProxyWork } from '../../src/adapters/proxy/fronts.ts';
import { ensureProxy } from '../../src/adapters/proxy/proxy.ts';
import { type EnvironmentId, newId } from '../../src/ids.ts';
import type { TestServer } from './lab.ts';
import { connect } from './remote.ts';
import { hangMs, until } from './until.ts';

/**
 * Answers with its name and what it was sent; an upgrade becomes an echo. `/slow` begins an answer and ends it later,
 * `/events` says something and does not end.
 */
export const echoApp = `const [, name] = process.argv;
const server = require('node:http').createServer((request, response) => {
  let size = 0;
  request.on('data', (bytes) => { size += bytes.length; });
  request.on('end', () => {
    const body = JSON.stringify({ name, size, headers: request.headers });
    if (request.url === '/events') {
      response.setHeader('content-type', 'text/event-stream');
      return response.write('data: first\\n\\n');
    }
    if (request.url === '/broken') response.statusCode = 500;
    if (request.url !== '/slow') return setTimeout(() => response.end(body), Math.random() * 10);
    response.flushHeaders();
    setTimeout(() => response.end(body), 2000);
  });
});
server.on('upgrade', (request, socket) => {
  socket.on('error', () => {});
  const key = request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
  const accept = require('node:crypto').createHash('sha1').update(key).digest('base64');
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  socket.write([...head, 'Sec-WebSocket-Accept: ' + accept, '', ''].join('\\r\\n'));
  socket.pipe(socket);
});
server.listen(8080);`;

export class ProxyGround {
  readonly address: string;
  readonly work: ProxyWork;
  readonly #server: TestServer;
  #apps = 10;
  #ports = 21_000;

  private constructor(server: TestServer, work: ProxyWork) {
    this.#server = server;
    this.address = server.about.address;
    this.work = work;
  }

  static async open(t: TestContext, server: TestServer): Promise<ProxyGround> {
    const remote = connect(t, server);
    const { signal } = new AbortController();
    await ensureProxy(remote, signal);
    await server.ssh(
      'docker pull --quiet node:24-slim > /dev/null; docker network create --subnet 198.18.40.0/24 apps > /dev/null',
    );
    return new ProxyGround(server, { remote, signal, fence: { scope: 'proxy-test', epoch: 1 } });
  }

  sh(command: string): Promise<string> {
    return this.#server.ssh(command);
  }

  front(changes: Partial<ProxyFront> = {}): ProxyFront {
    this.#ports += 1;
    return {
      id: newId<EnvironmentId>(),
      port: this.#ports,
      hosts: [],
      servers: [],
      holdSeconds: 30,
      ...changes,
    };
  }

  /** Each at an address of its own, as the product does it. */
  async startApp(): Promise<ProxyServer> {
    this.#apps += 1;
    const [name, address] = [`app-${this.#apps}`, `198.18.40.${this.#apps}`];
    const run = `docker run --detach --name ${name} --network apps --ip ${address} node:24-slim node -e "$1" ${name}`;
    await this.work.remote.script(run, [echoApp]);
    return { name, address, port: 8080 };
  }

  async stopApp({ name }: ProxyServer): Promise<void> {
    await this.sh(`docker rm --force ${name} > /dev/null`);
  }

  /** Until it answers through the proxy, as the release that it is. */
  async answersThrough(front: ProxyFront, server: ProxyServer): Promise<void> {
    const options = { path: '/', host: 'check.test', timeoutMs: 5_000 };
    await until(async () => (await admitAndCheck(this.work, front, [server], options))[0]?.status === 200);
  }

  url({ port }: Pick<ProxyFront, 'port'>, path = '/'): string {
    return `http://${this.address}:${port}${path}`;
  }
}

export interface Visit {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export function visit(url: string, options: https.RequestOptions = {}, body?: string): Promise<Visit> {
  return new Promise((resolve, reject) => {
    const request = (url.startsWith('https:') ? https : http).request(
      url,
      { timeout: hangMs, agent: false, ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (part) => {
          text += part;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.on('error', reject);
      },
    );
    request.on('timeout', () => request.destroy(new Error('no answer in 60 s')));
    request.on('error', reject);
    request.end(body);
  });
}

/** What a visitor of our applications is told: who answered, and what reached it. */
export function seenBy({ text }: Visit): { name: string; size: number; headers: Record<string, string> } {
  return JSON.parse(text);
}

/** Visitors with a connection each, one request after the other, reading and writing in turn; nobody tries twice. */
export class Visitors {
  readonly failures: string[] = [];
  readonly names = new Set<string>();
  answered = 0;
  #goesOn = true;
  readonly #all: Promise<void>[];

  constructor(t: TestContext, url: string, count = 16) {
    t.after(() => this.end());
    this.#all = Array.from({ length: count }, () => this.#go(url));
  }

  async #go(url: string): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const body = 'x'.repeat(5_000);
    for (let turn = 0; this.#goesOn; turn += 1) {
      const isPost = turn % 2 === 1;
      try {
        const seen = await visit(url, { agent, method: isPost ? 'POST' : 'GET' }, isPost ? body : undefined);
        if (seen.status !== 200) throw new Error(`${seen.status} ${seen.text}`);
        const { name, size } = seenBy(seen);
        if (size !== (isPost ? body.length : 0)) throw new Error(`${size} bytes arrived`);
        this.names.add(name);
        this.answered += 1;
      } catch (error) {
        this.failures.push(`${isPost ? 'POST' : 'GET'} ${turn}: ${error}`);
      }
    }
    agent.destroy();
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}

/** An open WebSocket; `echoes` is false once it is cut. */
export async function openSocket(
  url: string,
  options: https.RequestOptions = {},
): Promise<{ echoes(): Promise<boolean>; close(): void }> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' };
    const headers = { connection: 'Upgrade', upgrade: 'websocket', ...key, ...options.headers };
    const request = (url.startsWith('https:') ? https : http).request(url, { ...options, headers });
    request.on('upgrade', (_response, upgraded: Socket) => resolve(upgraded));
    request.on('response', ({ statusCode }) => reject(new Error(`no upgrade: ${statusCode}`)));
    request.on('error', reject);
    request.end();
  });
  socket.on('error', () => socket.destroy());
  return {
    close: () => void socket.destroy(),
    echoes: () =>
      new Promise((resolve) => {
        if (socket.destroyed || socket.readableEnded) return resolve(false);
        const settle = (answer: boolean) => () => {
          socket.off('data', onData).off('close', onClose);
          resolve(answer);
        };
        const [onData, onClose] = [settle(true), settle(false)];
        socket.once('data', onData).once('close', onClose);
        socket.write('ping');
      }),
  };
}
