import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startServer } from '../../../test/support/egress-servers.ts';
import { faultOf } from '../../../test/support/faults.ts';
import { until } from '../../../test/support/until.ts';
import { createEgress } from './egress.ts';

const open = (t: TestContext) => {
  const egress = createEgress({ allowPrivate: true });
  t.after(() => egress.close());
  return egress;
};

test('an answer that does not begin in time is broken off', async (t) => {
  let isGone = false;
  const server = await startServer(t, (request, response) => {
    if (request.url === '/quick') response.end();
    else
      request.once('close', () => {
        isGone = true;
      });
  });
  const egress = open(t);
  await egress.fetch(`${server.url}/quick`);
  const fault = await faultOf(() => egress.fetch(server.url, { headersTimeoutMs: 1_000 }));
  assert.equal(fault.code, 'egress_failed');
  assert.match(fault.message, / 1 s to begin its answer/);
  await until(() => isGone);
});

test('a server that takes the connection and says nothing in TLS is given up', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const sockets: { destroy(): void }[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const egress = createEgress({ allowPrivate: true }, { connectTimeoutMs: 50 });
  t.after(() => egress.close());
  const fault = await faultOf(() => egress.fetch(`https://127.0.0.1:${address.port}/`));
  assert.deepEqual([fault.code, /does not answer/.test(fault.message)], ['egress_failed', true]);
});

test('a body that trickles in is broken off when its time is over, however often a byte comes', async (t) => {
  let isGone = false;
  const server = await startServer(t, (_request, response) => {
    const timer = setInterval(() => response.write('x'), 5);
    response.once('close', () => {
      clearInterval(timer);
      isGone = true;
    });
  });
  const response = await open(t).fetch(server.url, { bodyTimeoutMs: 80 });
  const fault = await faultOf(() => response.text());
  assert.deepEqual([fault.code, /send its whole answer/.test(fault.message)], ['egress_failed', true]);
  await until(() => isGone);
});

test('a body that nobody reads is let go when its time is over', async (t) => {
  let isGone = false;
  const server = await startServer(t, (_request, response) => {
    response.write('x');
    response.once('close', () => {
      isGone = true;
    });
  });
  await open(t).fetch(server.url, { bodyTimeoutMs: 50 });
  await until(() => isGone);
});

test('a body that is too large is broken off at that byte, announced or not, packed or not', async (t) => {
  const sent = Buffer.alloc(3_000_000, 'x');
  const server = await startServer(t, (request, response) => {
    if (request.url === '/announced') response.setHeader('content-length', sent.length);
    if (request.url === '/packed') {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(sent));
    } else if (request.url === '/endless') {
      const more = () => {
        while (!response.destroyed && response.write(sent));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    } else response.end(sent);
  });
  const egress = open(t);
  for (const path of ['/announced', '/chunked', '/packed', '/endless']) {
    const fault = await faultOf(async () => {
      const response = await egress.fetch(`${server.url}${path}`, { maxBodyBytes: 1_000_000 });
      await response.arrayBuffer();
    });
    assert.deepEqual(
      [fault.code, /more than 1000000 bytes/.test(fault.message)],
      ['egress_failed', true],
      path,
    );
  }
  const whole = await egress.fetch(`${server.url}/packed`, { maxBodyBytes: sent.length });
  assert.equal((await whole.arrayBuffer()).byteLength, sent.length, 'exactly as many is not too many');
});

test('an answer that announces too much is let go at once, not read', async (t) => {
  let isGone = false;
  const server = await startServer(t, (_request, response) => {
    response.once('close', () => {
      isGone = true;
    });
    response.writeHead(200, { 'content-length': 1_000_000 }).write('x');
  });
  const fault = await faultOf(() => open(t).fetch(server.url, { maxBodyBytes: 1_000 }));
  assert.match(fault.message, /more than 1000 bytes/);
  await until(() => isGone);
});

test('a connection that breaks in the middle of a body is a fault, not a short body', async (t) => {
  const server = await startServer(t, (_request, response) => {
    response.setHeader('content-length', 100);
    response.write('half', () => response.destroy());
  });
  const response = await open(t).fetch(server.url);
  assert.equal((await faultOf(() => response.text())).code, 'egress_failed');
});

test('a caller that stops gets its own reason, before the answer and in the middle of it', async (t) => {
  const server = await startServer(t, (request, response) => {
    if (request.url === '/begun') response.write('x');
  });
  const egress = open(t);
  const reason = new Error('changed my mind');
  for (const path of ['/silent', '/begun']) {
    const stop = new AbortController();
    const work = egress.fetch(`${server.url}${path}`, { signal: stop.signal }).then((each) => each.text());
    setImmediate(() => stop.abort(reason));
    await assert.rejects(work, (error) => error === reason, path);
  }
  await assert.rejects(egress.fetch(server.url, { signal: AbortSignal.abort(reason) }), (e) => e === reason);
});

test('bodies stream in both directions, with a length where one is given', async (t) => {
  const seen: { length: string | undefined; encoding: string | undefined }[] = [];
  const server = await startServer(t, (request, response) => {
    seen.push({ length: request.headers['content-length'], encoding: request.headers['transfer-encoding'] });
    request.pipe(response);
  });
  async function* parts() {
    for (let part = 0; part < 50; part++) yield Buffer.alloc(1000, part);
  }
  const egress = open(t);
  const chunked = await egress.fetch(server.url, { method: 'PUT', body: parts() });
  let received = 0;
  for await (const chunk of chunked.body ?? []) received += chunk.byteLength;
  assert.equal(received, 50_000);
  const counted = await egress.fetch(server.url, {
    method: 'PUT',
    body: parts(),
    headers: { 'content-length': '50000' },
  });
  assert.equal((await counted.arrayBuffer()).byteLength, 50_000);
  assert.deepEqual(seen, [
    { length: undefined, encoding: 'chunked' },
    { length: '50000', encoding: undefined },
  ]);
});

test('after closing nothing is sent any more', async (t) => {
  const server = await startServer(t, (_request, response) => response.end('x'));
  const egress = createEgress({ allowPrivate: true });
  await (await egress.fetch(server.url)).text();
  await egress.close();
  assert.equal((await faultOf(() => egress.fetch(server.url))).code, 'shutting_down');
});
