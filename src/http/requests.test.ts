import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerBrokenRequest, takesItsTime } from './requests.ts';

const limitMs = 300;

async function start(t: TestContext, stallMs?: number): Promise<number> {
  const options = { requestTimeout: limitMs, headersTimeout: limitMs, connectionsCheckingInterval: 20 };
  const server = createServer(options, async (request, response) => {
    const over = stallMs === undefined ? () => undefined : takesItsTime(request.socket, stallMs);
    let bytes = 0;
    try {
      for await (const chunk of request) bytes += chunk.length;
      response.end(`${bytes} bytes`);
    } catch {
      // The connection was cut: there is nobody to answer.
    } finally {
      over();
    }
  });
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket as Socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Everything that came back, after a body that was sent byte by byte, with pauses. */
async function send(port: number, bytes: number, pauseMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
    if (answer.includes('bytes')) socket.end();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += 1) {
    await sleep(pauseMs);
    socket.write('x');
  }
  await closed;
  return answer;
}

test('a request that takes longer than it may is answered with 408', async (t) => {
  assert.match(await send(await start(t), 30, 50), /^HTTP\/1\.1 408 /);
});

test('an upload may take longer than other requests, as long as something arrives', async (t) => {
  assert.match(await send(await start(t, 500), 30, 50), /^HTTP\/1\.1 200 [\s\S]*30 bytes/);
});

test('an upload that stands still is cut off', async (t) => {
  assert.equal(await send(await start(t, 100), 5, 400), '');
});
