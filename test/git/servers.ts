/** Small servers on loopback: any, and one that stands in front of the Git host. */
import assert from 'node:assert/strict';
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Server } from 'node:net';
import type { TestContext } from 'node:test';
import { afterwards } from '../../lab/services/git/test-bench.ts';

/** Listens on a free port until the test has ended, and gives the port. */
export async function listen(t: TestContext, server: Server | HttpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(t, () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

export interface Between {
  /** Called when a request has come, before it is passed on. */
  readonly before?: (incoming: IncomingMessage) => Promise<void>;
  /** In place of handing over the whole body at once. */
  readonly send?: (response: ServerResponse, body: Buffer) => Promise<void>;
}

/** Passes everything on to the host at `url`; gives its own port. */
export function standBetween(t: TestContext, url: string, { before, send }: Between): Promise<number> {
  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    await before?.(incoming);
    const kept = Object.entries(incoming.headers).filter(
      ([name]) => !/^(host|connection|content-length)$/.test(name),
    );
    const answer = await fetch(`${url}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: kept.map(([name, value]): [string, string] => [name, String(value)]),
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    const headers = [...answer.headers].filter(([name]) => !/encoding|length|connection/.test(name));
    response.writeHead(answer.status, Object.fromEntries(headers));
    const body = Buffer.from(await answer.arrayBuffer());
    if (send) await send(response, body);
    else response.end(body);
  };
  return listen(
    t,
    createServer((incoming, response) => void pass(incoming, response)),
  );
}
