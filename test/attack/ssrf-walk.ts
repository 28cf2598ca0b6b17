/**
 * Every field that takes a URL, with every way to name an address that is not for users. Runs in a network of its own
 * that has loopback and no way out (see `ssrf.test.ts`), so that a broken guard reaches nobody. Something listens on
 * loopback there: whoever connects to it has been fooled.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { callApi, startTestApp, type TestApp } from '../support/app.ts';
import { newPerson } from '../support/people.ts';
import { type Json, leavesOf, type Operation, pathWith, surfaceOf, withValue } from './surface.ts';

const none = '01a1df82-0000-7000-8000-000000000000';

function forms(port: number): string[] {
  const hosts = [
    ...['127.0.0.1', 'localhost', 'localhost.', '127.1', '0.0.0.0', '2130706433', '0x7f.0.0.1', '0177.0.0.1'],
    ...[
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
    ],
    ...[
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      '127.0.0.1%00.example.com',
      'user:word@127.0.0.1',
      '127.0.0.1#@example.com',
    ],
    ...['169.254.169.254', '10.0.0.1', '192.168.0.1', '100.64.0.1', '[fe80::1]', '[fd00::1]', '198.18.0.1'],
  ];
  const urls = hosts.flatMap((host) => [`http://${host}:${port}/x`, `https://${host}:${port}/x`]);
  const schemes = [
    'file:///etc/passwd',
    'gopher://127.0.0.1:1/_x',
    'ftp://127.0.0.1/x',
    `git://127.0.0.1:${port}/x`,
  ];
  const git = [
    `ssh://git@127.0.0.1:${port}/x`,
    `git@127.0.0.1:x`,
    'ssh://-oProxyCommand=x/y',
    'ext::sh -c x',
  ];
  return [...urls, ...schemes, ...git, '//127.0.0.1/x', 'http:127.0.0.1', 'javascript:alert(1)', 'http://'];
}

const takesUrl = /url$|endpoint$|^proxy$/i;

function* attempts(operation: Operation, url: string): Iterable<{ body?: Json; query?: string }> {
  for (const name of operation.inQuery) {
    if (takesUrl.test(name)) yield { query: `?${name}=${encodeURIComponent(url)}` };
  }
  for (const example of new Set(operation.least.map((each) => JSON.stringify(each)))) {
    const body: Json = JSON.parse(example);
    for (const at of leavesOf(body))
      if (takesUrl.test(String(at.at(-1)))) yield { body: withValue(body, at, url) };
  }
}

async function settled(service: TestApp, token: string): Promise<void> {
  for (;;) {
    const { body } = await service.call('GET', '/operations?limit=100', { token });
    if (Array.from(Object(body.items), (each) => Object(each)).every(({ finishedAt }) => finishedAt)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('no field that takes a URL makes us connect to loopback or a private network, however it is written', async (t) => {
  let connections = 0;
  const trap = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  });
  await new Promise<void>((resolve) => trap.listen(0, '::', resolve));
  t.after(() => trap.close());
  const address = trap.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const service = await startTestApp(t);
  const { token } = await newPerson(service);
  const fields = new Set<string>();
  for (const operation of surfaceOf()) {
    for (const url of forms(port)) {
      for (const { body, query = '' } of attempts(operation, url)) {
        fields.add(operation.name);
        const path = `${pathWith(operation, { id: none })}${query}`;
        const answer = await callApi(service.url, operation.method, path, {
          token,
          ...(body !== undefined && { body }),
        });
        const shown = `${operation.name} ${url}: ${answer.status} ${answer.text.slice(0, 300)}`;
        assert.ok(answer.status < 500 || typeof answer.body.code === 'string', shown);
        assert.notEqual(answer.status, 500, shown);
      }
    }
    assert.equal(connections, 0, `${operation.name} has connected to loopback`);
  }
  await settled(service, token);
  assert.equal(connections, 0, 'work that was started has connected to loopback');
  t.diagnostic(`${fields.size} operations take a URL: ${[...fields].join(', ')}`);
  assert.ok(fields.size >= 3, 'the walk has found the fields');
  // The trap itself works: else nothing above would mean anything.
  await fetch(`http://127.0.0.1:${port}`);
  assert.equal(connections, 1);
});
