/** `slipway connect` on this side: the port, the program, and what is told where it is refused. The other side: test/attack/tunnels. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Desk } from './support.ts';

const id = '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b';
const services = ['main', 'cache'].map((name) => ({ id, name, kind: 'postgres', removedAt: null }));
const refusal = JSON.stringify({
  title: 'Bad Gateway',
  status: 502,
  code: 'database_down',
  detail: 'The service main does not take connections.',
  requestId: 'req-1',
});

/** Sends back what comes through a tunnel; or refuses it. */
async function scene(t: TestContext, isDown = false) {
  const bearers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/api\/v1|\?.*$/g, '');
    const answers: Record<string, unknown> = {
      '/projects': { items: [{ id, name: 'shop', environments: [] }], nextCursor: null },
      '/environments': { items: [{ id, name: 'production' }], nextCursor: null },
      [`/environments/${id}/services`]: { items: services },
    };
    const credentials = { id, kind: 'postgres', name: 'main', url: 'postgresql://app:s3cret@main:5432/shop' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[path] ?? credentials));
  });
  server.on('upgrade', (request, socket) => {
    bearers.push(request.headers.authorization);
    if (!isDown) {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
      return void socket.pipe(socket).on('error', () => undefined);
    }
    const head = `Content-Type: application/problem+json\r\nContent-Length: ${refusal.length}`;
    socket.end(`HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n${head}\r\n\r\n${refusal}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const desk = new Desk(t);
  const bin = join(desk.folder, 'bin');
  mkdirSync(bin);
  const install = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { SLIPWAY_URL: url, SLIPWAY_TOKEN: 'slw_x', PATH: `${bin}:${process.env.PATH}` };
  return { desk, env, bearers, install };
}

test('an address of this machine leads there until Ctrl-C, with the token in a header', async (t) => {
  const { desk, env, bearers } = await scene(t);
  const screen = desk.watch(t, ['connect', '--tunnel', '--service', 'main'], { env });
  await screen.sees('It leads there until this ends: Ctrl-C.');
  const [shown = ''] = screen.screen.split('\n');
  assert.match(shown, /^postgresql:\/\/app:s3cret@127\.0\.0\.1:\d+\/shop$/);
  const socket = connect(Number(new URL(shown).port), '127.0.0.1');
  socket.end('there and back');
  let back = '';
  for await (const chunk of socket.setEncoding('utf8')) back += chunk;
  assert.equal(back, 'there and back');
  screen.type('\x03');
  assert.equal(await screen.ended, 0, screen.screen);
  assert.deepEqual(bearers, ['Bearer slw_x', 'Bearer slw_x']);
});

test('the program of the database gets the rest of the line, and the password where others do not see it', async (t) => {
  const { desk, env, install } = await scene(t);
  install('psql', 'echo "$PGPASSWORD $@"; exit 3');
  const args = ['connect', '--service', 'main', '--', '-c', 'select 1'];
  const ended = await desk.run(args, { env });
  assert.match(
    ended.out,
    /^s3cret --host=127\.0\.0\.1 --port=\d+ --username=app --dbname=shop -c select 1\n$/,
    ended.err,
  );
  assert.equal(ended.code, 1, 'that it failed is passed on');
});

test('what stands in the way is told before anything is begun', async (t) => {
  const { desk, env, install } = await scene(t, true);
  install('psql', 'echo begun');
  const down = await desk.run(['connect', '--service', 'main'], { env });
  assert.deepEqual([down.code, down.out], [1, '']);
  assert.equal(
    down.err,
    'Error: The service main does not take connections.\ndatabase_down, request req-1\n',
  );
  const which = await desk.run(['connect'], { env });
  assert.deepEqual(
    [which.code, which.err],
    [2, 'Error: Which service?\nName it with --service: main, cache.\n'],
  );
  const none = await desk.run(['connect', '--service', 'other'], { env });
  assert.deepEqual(
    [none.code, none.err],
    [4, 'Error: There is no service «other».\nThere are: main, cache.\n'],
  );
});
