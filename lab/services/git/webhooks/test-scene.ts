/** What the tests of webhooks share. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { TestContext } from 'node:test';
import { at, type Bench, gitClient, openBench, openReceiver, type Received } from '../test-bench.ts';

const secret = 'it is a secret';

/** Gives the path of the hook. */
export async function addHook(bench: Bench, url: string, more: object = {}, config: object = {}) {
  const body = { events: ['*'], config: { url, content_type: 'json', secret, ...config }, ...more };
  const reply = await bench.api('/repos/ada/app/hooks', { method: 'POST', body });
  assert.equal(reply.status, 201, reply.text);
  return `/repos/ada/app/hooks/${at(reply.json, 'id')}`;
}

/** A repository with a first commit, a clone of it, and a hook for everything. */
export async function openScene(t: TestContext) {
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

export function assertSigned({ headers, raw }: Received): void {
  const sign = (kind: string) => `${kind}=${createHmac(kind, secret).update(raw).digest('hex')}`;
  assert.equal(headers['x-hub-signature'], sign('sha1'));
  assert.equal(headers['x-hub-signature-256'], sign('sha256'));
}
