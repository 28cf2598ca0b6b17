import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { assertWebhook } from '../rest/github-description.ts';
import {
  afterwards,
  at,
  type Bench,
  gitClient,
  listAt,
  openBench,
  openReceiver,
  type Received,
} from '../test-bench.ts';

const secret = 'it is a secret';
const zeros = '0'.repeat(40);

async function addHook(bench: Bench, url: string, more: object = {}, config: object = {}) {
  const body = { events: ['*'], config: { url, content_type: 'json', secret, ...config }, ...more };
  const reply = await bench.api('/repos/ada/app/hooks', { method: 'POST', body });
  assert.equal(reply.status, 201, reply.text);
  return `/repos/ada/app/hooks/${at(reply.json, 'id')}`;
}

async function openScene(t: TestContext) {
  const bench = await openBench(t);
  const receiver = await openReceiver(t);
  const git = gitClient(t);
  await bench.host.createRepository({ owner: 'ada', name: 'app', private: true });
  await bench.host.commit('ada', 'app', {
    branch: 'main',
    message: 'Start',
    files: { 'a.txt': 'a', 'b.txt': 'b' },
  });
  const clone = await git.clone(bench.cloneUrl('ada/app'));
  const hook = await addHook(bench, receiver.url);
  await receiver.take('ping', 1);
  const push = (...args: string[]) => git(clone, 'push', '--quiet', 'origin', ...args);
  return { bench, receiver, git, clone, hook, push };
}

function assertSigned({ headers, raw }: Received): void {
  const sign = (kind: string) => `${kind}=${createHmac(kind, secret).update(raw).digest('hex')}`;
  assert.equal(headers['x-hub-signature'], sign('sha1'));
  assert.equal(headers['x-hub-signature-256'], sign('sha256'));
}

test('a push is announced with the right signature, headers and commits', async (t) => {
  const { receiver, git, clone, hook, push } = await openScene(t);
  const before = await git(clone, 'rev-parse', 'HEAD');
  const one = await git.commit(clone, 'Change a', { 'a.txt': 'aa', 'dir/ü c.txt': 'c' });
  await git(clone, 'rm', '--quiet', 'b.txt');
  const two = await git.commit(clone, 'Take b away\n\nBecause.', {});
  await push('main');
  const [event] = await receiver.take('push', 1);
  assert.ok(event);
  assertSigned(event);
  assertWebhook('push', event.payload);
  assert.equal(event.headers['user-agent'], 'GitHub-Hookshot/lab');
  assert.equal(event.headers['content-type'], 'application/json');
  assert.equal(event.headers['x-github-hook-id'], hook.split('/').at(-1));
  assert.match(String(event.headers['x-github-delivery']), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const { payload } = event;
  const flags = ['ref', 'before', 'after', 'created', 'deleted', 'forced', 'base_ref'].map((key) =>
    at(payload, key),
  );
  assert.deepEqual(flags, ['refs/heads/main', before, two, false, false, false, null]);
  assert.deepEqual(
    listAt(payload, 'commits').map((commit) => [at(commit, 'id'), at(commit, 'distinct')]),
    [
      [one, true],
      [two, true],
    ],
  );
  assert.deepEqual(at(payload, 'commits', 0, 'added'), ['dir/ü c.txt']);
  assert.deepEqual(at(payload, 'commits', 0, 'modified'), ['a.txt']);
  assert.deepEqual(at(payload, 'commits', 1, 'removed'), ['b.txt']);
  assert.equal(at(payload, 'commits', 1, 'message'), 'Take b away\n\nBecause.');
  assert.equal(at(payload, 'commits', 1, 'tree_id'), await git(clone, 'rev-parse', 'HEAD^{tree}'));
  assert.equal(at(payload, 'commits', 1, 'author', 'username'), 'ada');
  assert.equal(at(payload, 'head_commit', 'id'), two);
  assert.equal(at(payload, 'pusher', 'name'), 'ada');
  assert.match(
    String(at(payload, 'compare')),
    new RegExp(`${before.slice(0, 12)}\\.\\.\\.${two.slice(0, 12)}$`),
  );
});

test('a new branch is announced with create and push, one that goes with delete and push', async (t) => {
  const { receiver, git, clone, push } = await openScene(t);
  const tip = await git(clone, 'rev-parse', 'HEAD');
  await push('HEAD:refs/heads/feature/login');
  const [create] = await receiver.take('create', 1);
  const [made] = await receiver.take('push', 1);
  assertWebhook('create', create?.payload);
  assertWebhook('push', made?.payload);
  assert.deepEqual(
    [at(create?.payload, 'ref'), at(create?.payload, 'ref_type')],
    ['feature/login', 'branch'],
  );
  assert.deepEqual([at(made?.payload, 'created'), at(made?.payload, 'before')], [true, zeros]);
  assert.equal(at(made?.payload, 'base_ref'), 'refs/heads/main');
  assert.deepEqual(at(made?.payload, 'commits'), [], 'nothing in it is new');
  assert.equal(at(made?.payload, 'head_commit', 'id'), tip);

  await push('--delete', 'feature/login');
  const [removed] = await receiver.take('delete', 1);
  const [, gone] = await receiver.take('push', 2);
  assertWebhook('delete', removed?.payload);
  assertWebhook('push', gone?.payload);
  assert.deepEqual([at(gone?.payload, 'deleted'), at(gone?.payload, 'after')], [true, zeros]);
  assert.equal(at(gone?.payload, 'head_commit'), null);
});

test('a forced push says so, and commits that other branches have are not distinct', async (t) => {
  const { receiver, git, clone, push } = await openScene(t);
  const shared = await git.commit(clone, 'On another branch', { 'a.txt': '2' });
  await push('HEAD:refs/heads/other');
  await git.commit(clone, 'Lost', { 'a.txt': '3' });
  await push('main');
  await git(clone, 'reset', '--quiet', '--hard', shared);
  await push('--force', 'main');
  const [, , forced] = await receiver.take('push', 3);
  assert.deepEqual([at(forced?.payload, 'forced'), at(forced?.payload, 'after')], [true, shared]);
  const ahead = await git.commit(clone, 'Ahead', { 'a.txt': '4' });
  await push('HEAD:refs/heads/third');
  await push('HEAD:main');
  const events = await receiver.take('push', 5);
  const last = events[4]?.payload;
  assert.deepEqual([at(last, 'commits', 0, 'id'), at(last, 'commits', 0, 'distinct')], [ahead, false]);
  assert.equal(at(last, 'forced'), false);
});

test('tags are announced, simple and annotated ones, and too many at once are not', async (t) => {
  const { bench, receiver, git, clone, push } = await openScene(t);
  const commit = await git(clone, 'rev-parse', 'HEAD');
  await git(clone, 'tag', '-a', 'v1', '-m', 'One');
  await push('v1');
  const [create] = await receiver.take('create', 1);
  const [event] = await receiver.take('push', 1);
  assert.deepEqual([at(create?.payload, 'ref'), at(create?.payload, 'ref_type')], ['v1', 'tag']);
  assert.equal(at(event?.payload, 'after'), await git(clone, 'rev-parse', 'v1'), 'the object of the tag');
  assert.equal(at(event?.payload, 'head_commit', 'id'), commit);
  assertWebhook('push', event?.payload);

  const blob = await git(clone, 'hash-object', '-w', 'a.txt');
  await git(clone, 'tag', 'thing', blob);
  await push('thing');
  const [, odd] = await receiver.take('push', 2);
  assert.equal(at(odd?.payload, 'head_commit'), null, 'a tag of something that is no commit');

  for (const name of ['a', 'b', 'c', 'd']) await git(clone, 'tag', name);
  await push('--tags');
  await bench.host.idle();
  assert.equal(receiver.received.filter(({ event: name }) => name === 'push').length, 2);
});

test('pushes at the same time are each announced once, and a commit of the lab among them', async (t) => {
  const { bench, receiver, git, clone } = await openScene(t);
  const names = ['one', 'two', 'three', 'four'];
  const clones = await Promise.all(names.map(() => git.clone(bench.cloneUrl('ada/app'))));
  const shas = await Promise.all(clones.map((folder, index) => git.commit(folder, `On ${names[index]}`, {})));
  await Promise.all([
    ...clones.map((folder, index) =>
      git(folder, 'push', '--quiet', 'origin', `HEAD:refs/heads/${names[index]}`),
    ),
    bench.host.commit('ada', 'app', { branch: 'main', message: 'From inside', files: { 'a.txt': 'x' } }),
  ]);
  await bench.host.idle();
  const told = receiver.received
    .filter(({ event }) => event === 'push')
    .map(({ payload }) => `${at(payload, 'ref')} ${at(payload, 'after')}`);
  await git(clone, 'fetch', '--quiet');
  const expected = names.map((name, index) => `refs/heads/${name} ${shas[index]}`);
  assert.deepEqual(
    told.sort(),
    [...expected, `refs/heads/main ${await git(clone, 'rev-parse', 'origin/main')}`].sort(),
  );
});

test('a hook gets only what it asked for, as a form if it wants, and nothing when it is not active', async (t) => {
  const { bench, git, clone, push } = await openScene(t);
  const form = await openReceiver(t);
  const quiet = await openReceiver(t);
  await addHook(bench, form.url, { events: ['push'] }, { content_type: 'form' });
  await addHook(bench, quiet.url, { active: false });
  await git.commit(clone, 'One', {});
  await push('HEAD:refs/heads/new');
  await bench.host.idle();
  assert.deepEqual(
    form.received.map(({ event }) => event),
    ['ping', 'push'],
  );
  for (const received of form.received) assertSigned(received);
  assert.match(form.received[1]?.raw.toString() ?? '', /^payload=%7B/);
  assert.deepEqual(quiet.received, []);
});

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
  const { startGitHost } = await import('../git-host.ts');
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
