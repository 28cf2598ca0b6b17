import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../test-bench.ts';
import { requestBody, requestHeaders, send } from './send.ts';
import { newHook } from './webhooks.ts';

/** Answers with the head, so that only the limit on the whole can end the exchange. */
async function openHalfSilent(t: TestContext): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200).write('one moment');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterwards(t, () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}/`;
}

function hookTo(url: string, secret: string | null) {
  const fixed = { id: 7, repositoryId: 3, active: true, events: ['push'], insecureSsl: false } as const;
  return newHook({ ...fixed, events: ['push'], url, secret, contentType: 'json' });
}

test('a receiver that does not come to an end within the limit is recorded as timed out', async (t) => {
  const hook = hookTo(await openHalfSilent(t), null);
  const body = requestBody(hook, { a: 1 });
  const never = new AbortController().signal;
  const outcome = await send(hook, requestHeaders(hook, 'push', 'guid', body), body, never, 100);
  assert.deepEqual([outcome.status, outcome.statusCode], ['timed out', 504]);
  assert.ok(outcome.seconds >= 0.09 && outcome.seconds < 5);
});

test('a host that stops ends the exchange at once, and that is no time-out', async (t) => {
  const hook = hookTo(await openHalfSilent(t), null);
  const body = requestBody(hook, {});
  const outcome = await send(hook, {}, body, AbortSignal.abort(), 60_000);
  assert.deepEqual([outcome.status, outcome.statusCode], ['failed to connect to host', 502]);
});

test('only a hook with a secret signs', () => {
  const body = Buffer.from('{}');
  assert.equal(
    requestHeaders(hookTo('http://lab.test', null), 'push', 'g', body)['X-Hub-Signature-256'],
    undefined,
  );
  assert.match(
    requestHeaders(hookTo('http://lab.test', 's'), 'push', 'g', body)['X-Hub-Signature-256'] ?? '',
    /^sha256=[0-9a-f]{64}$/,
  );
});
