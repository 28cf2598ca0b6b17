import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertWebhook } from '../rest/github-description.ts';
import { at, listAt, openReceiver } from '../test-bench.ts';
import { addHook, assertSigned, openScene } from './test-scene.ts';

const zeros = '0'.repeat(40);

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
