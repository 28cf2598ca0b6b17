import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { startGitHost } from '../git-host.ts';
import { afterwards, at, listAt, openBench, openReceiver } from '../test-bench.ts';
import { addHook, assertSigned, openScene } from './test-scene.ts';

test('deliveries are kept with request and answer, and one is delivered again under the same number', async (t) => {
  const { bench, receiver, git, clone, hook, push } = await openScene(t);
  await git.commit(clone, 'One', {});
  await push('main');
  const [original] = await receiver.take('push', 1);
  await bench.host.idle();
  const list = await bench.api(`${hook}/deliveries?per_page=1`);
  assert.equal(listAt(list.json).length, 1);
  assert.deepEqual([at(list.json, 0, 'event'), at(list.json, 0, 'status_code')], ['push', 200]);
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(list.headers.get('link') ?? '') ?? [];
  assert.equal(at((await bench.api(next)).json, 0, 'event'), 'ping');

  const path = `${hook}/deliveries/${at(list.json, 0, 'id')}`;
  const { json } = await bench.api(path);
  assert.deepEqual(at(json, 'request', 'payload'), original?.payload);
  assert.equal(at(json, 'request', 'headers', 'X-GitHub-Event'), 'push');
  assert.equal(at(json, 'response', 'payload'), 'thanks');
  assert.equal((await bench.api(`${path}/attempts`, { method: 'POST' })).status, 202);
  const [, again] = await receiver.take('push', 2);
  assert.ok(again && original);
  assert.equal(again.headers['x-github-delivery'], original.headers['x-github-delivery']);
  assert.ok(again.raw.equals(original.raw));
  assertSigned(again);
  await bench.host.idle();
  const latest = await bench.api(`${hook}/deliveries`);
  assert.deepEqual([at(latest.json, 0, 'redelivery'), at(latest.json, 1, 'redelivery')], [true, false]);
});

test('a refusal, a redirect and nobody at home are recorded as failures, and nothing is repeated', async (t) => {
  const { bench, hook } = await openScene(t);
  const elsewhere = await openReceiver(t);
  const redirecting = await openReceiver(t, { status: 302, location: elsewhere.url });
  const refusing = await openReceiver(t, { status: 500 });
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const address = closed.address();
  const gone = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  await new Promise((resolve) => closed.close(resolve));
  const outcomes = [];
  for (const url of [refusing.url, redirecting.url, gone]) {
    const added = await addHook(bench, url, { events: ['push'] });
    await bench.host.idle();
    const { json } = await bench.api(`${added}/deliveries`);
    assert.equal(listAt(json).length, 1);
    outcomes.push([at(json, 0, 'status'), at(json, 0, 'status_code')]);
    assert.equal(at((await bench.api(added)).json, 'last_response', 'status'), 'failed');
  }
  assert.deepEqual(outcomes, [
    ['Invalid HTTP Response: 500', 500],
    ['Invalid HTTP Response: 302', 302],
    ['failed to connect to host', 502],
  ]);
  assert.deepEqual(elsewhere.received, []);
  const failures = await bench.api(`${hook}/deliveries?status=failure`);
  assert.deepEqual(failures.json, []);
});

test('what was on its way when the host stopped is in the record, and was not lost', async (t) => {
  const bench = await openBench(t);
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  afterwards(t, () => {
    silent.closeAllConnections();
    return new Promise((resolve) => silent.close(resolve));
  });
  const address = silent.address();
  assert.ok(address !== null && typeof address === 'object');
  await bench.host.createRepository({ owner: 'ada', name: 'app' });
  const hook = await addHook(bench, `http://127.0.0.1:${address.port}/`);
  await bench.host.commit('ada', 'app', { branch: 'main', message: 'One', files: { a: '1' } });
  await bench.host.close();
  const again = await startGitHost({ address: '127.0.0.1', port: 0, dir: bench.dir });
  afterwards(t, () => again.close());
  const headers = { authorization: `token ${bench.token}` };
  const reply = await fetch(`${again.apiUrl}${hook}/deliveries`, { headers });
  const kept: unknown = await reply.json();
  assert.deepEqual(
    listAt(kept).map((delivery) => at(delivery, 'event')),
    ['push', 'create', 'ping'],
  );
});
