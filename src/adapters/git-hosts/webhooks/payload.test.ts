import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../../test/support/faults.ts';
import { push, recorded } from '../../../../test/support/recorded-deliveries.ts';
import type { GitHostKind } from '../git-hosts.ts';
import { readDelivery } from './webhooks.ts';

const pushes: readonly (readonly [GitHostKind, string])[] = [
  ['gitlab', 'gitlab-push'],
  ['gitea', 'gitea-push'],
  ['bitbucket', 'bitbucket-push'],
];

test('fields that are new are let be; those that are used have to be right', async () => {
  for (const [kind, name] of pushes) {
    const { headers, body } = recorded(name);
    assert.ok(typeof body === 'object' && body !== null);
    push(readDelivery(kind, headers, { ...body, invented: { deeply: ['new'] } }));
    const wrong: unknown[] = [null, [], 'text', 7, {}, { ...body, repository: 1, project: 1 }];
    wrong.push({ ...body, after: 'not a sha', push: { changes: [{ new: { type: 'branch' } }] } });
    wrong.push({ ...body, ref: 7, push: [] });
    for (const each of wrong) {
      const fault = await faultOf(() => readDelivery(kind, headers, each));
      assert.deepEqual(
        [fault.code, fault.errors?.length],
        ['invalid_input', 1],
        `${kind} ${JSON.stringify(each)}`,
      );
    }
    assert.equal((await faultOf(() => readDelivery(kind, {}, body))).code, 'invalid_input', 'no event');
  }
});

test('refs that are neither branches nor tags are nothing to deploy, and names are kept as they are', () => {
  const { headers, body } = recorded('gitlab-push');
  assert.ok(typeof body === 'object' && body !== null);
  const at = (ref: string) => readDelivery('gitlab', headers, { ...body, ref });
  for (const ref of ['refs/notes/commits', 'refs/merge-requests/1/head', 'main', 'refs/heads/', ''])
    assert.deepEqual(
      at(ref).map(({ type }) => type),
      ['other'],
      ref,
    );
  for (const name of ['--help', '$(id)', 'a/b/c', 'refs/heads/x', 'ümläut'])
    assert.equal(push(at(`refs/heads/${name}`)).ref.name, name);
});
