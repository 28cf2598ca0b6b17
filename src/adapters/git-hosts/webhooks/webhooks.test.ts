import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { push, recorded } from '../../../../test/support/recorded-deliveries.ts';
import type { GitHostKind } from '../git-hosts.ts';
import type { PushDelivery } from './delivery.ts';
import { readDelivery } from './webhooks.ts';

const zero = '0'.repeat(40);

const read = (kind: GitHostKind, name: string) => {
  const { headers, body } = recorded(name);
  return readDelivery(kind, headers, body);
};

const short = ({ ref, after, isDeleted, isForced, isTruncated, headMessage }: PushDelivery) => ({
  ref: `${ref.type} ${ref.name}`,
  after: after.slice(0, 7),
  isDeleted,
  isForced,
  isTruncated,
  head: headMessage?.split('\n')[0] ?? null,
});

interface Example {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}

test('every push among GitHub’s own examples is understood, of the cloud and of each server', () => {
  const require = createRequire(import.meta.url);
  let count = 0;
  for (const where of ['api.github.com', 'ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35']) {
    const events: readonly Example[] = require(`@octokit/webhooks-examples/${where}/index.json`);
    for (const body of events.find(({ name }) => name === 'push')?.examples ?? []) {
      const found = push(
        readDelivery('github', { 'x-github-event': 'push', 'x-github-delivery': 'd1' }, body),
      );
      assert.equal(found.deliveryId, 'd1');
      assert.equal(`refs/${found.ref.type === 'branch' ? 'heads' : 'tags'}/${found.ref.name}`, body.ref);
      assert.equal(found.after, body.after);
      assert.deepEqual([found.isDeleted, found.isForced], [body.deleted, body.forced]);
      assert.match(found.repository.id, /^\d+$/);
      assert.match(found.repository.fullName, /^[^/]+\/[^/]+$/);
      assert.equal(found.commits.length, Array.isArray(body.commits) ? body.commits.length : 0);
      for (const { added, modified, removed } of found.commits) assert.ok(added && modified && removed);
      count++;
    }
    for (const { name, examples } of events) {
      if (name === 'push') continue;
      const [other] = readDelivery('github', { 'x-github-event': name }, examples[0]);
      assert.equal(other?.type, name === 'ping' ? 'ping' : 'other');
    }
  }
  assert.ok(count >= 10, `${count} pushes`);
});

test('GitLab: a push whose commits were cut, with its paths', () => {
  const found = push(read('gitlab', 'gitlab-push'));
  assert.deepEqual(found.repository, { id: '15', fullName: 'mike/diaspora' });
  assert.equal(found.deliveryId, 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f');
  assert.deepEqual(short(found), {
    ref: 'branch master',
    after: 'da15608',
    isDeleted: false,
    isForced: null,
    isTruncated: true,
    head: 'fixed readme',
  });
  assert.deepEqual(found.commits.at(-1), {
    added: ['CHANGELOG'],
    modified: ['app/controller/application.rb'],
    removed: ['old.txt'],
  });
});

test('GitLab: tags, deletions, forced pushes and merges', () => {
  const tag = push(read('gitlab', 'gitlab-tag-push'));
  assert.deepEqual([tag.ref, tag.isDeleted], [{ type: 'tag', name: 'v1.0.0' }, false]);
  const gone = push(read('gitlab', 'gitlab-branch-deletion'));
  assert.deepEqual(
    [gone.ref.name, gone.after, gone.isDeleted, gone.headMessage],
    ['feature/old', zero, true, null],
  );
  const forced = push(read('gitlab', 'gitlab-force-push'));
  assert.deepEqual([forced.isForced, forced.commits, forced.headMessage], [null, [], null]);
  const merge = push(read('gitlab', 'gitlab-merge'));
  assert.match(merge.headMessage ?? '', /^Merge branch 'feature' into 'master'/);
  assert.deepEqual([merge.commits.length, merge.isTruncated], [2, false]);
  assert.deepEqual(
    read('gitlab', 'gitlab-issue').map(({ type }) => type),
    ['other'],
  );
});

test('Gitea and Forgejo: pushes, with their paths', () => {
  const found = push(read('gitea', 'gitea-push'));
  assert.deepEqual(found.repository, { id: '140', fullName: 'gitea/webhooks' });
  assert.deepEqual(short(found), {
    ref: 'branch develop',
    after: 'cfd1b2f',
    isDeleted: false,
    isForced: null,
    isTruncated: true,
    head: 'Second',
  });
  assert.deepEqual(
    found.commits.map(({ added }) => added),
    [[], ['hook.md']],
  );
  const forgejo = push(read('gitea', 'forgejo-push'));
  assert.deepEqual(
    [forgejo.deliveryId, forgejo.isTruncated],
    ['f6266f16-1bf3-46a5-9ea4-602e06ead473', false],
  );
});

test('Gitea: tags, deletions, forced pushes and merges', () => {
  const tag = push(read('gitea', 'gitea-tag-push'));
  assert.deepEqual(tag.ref, { type: 'tag', name: 'v1.0.0' });
  const gone = push(read('gitea', 'gitea-branch-deletion'));
  assert.deepEqual([gone.ref, gone.isDeleted], [{ type: 'branch', name: 'feature/old' }, true]);
  const forced = push(read('gitea', 'gitea-force-push'));
  assert.deepEqual([forced.commits, forced.headMessage], [[], 'Webhooks Yay!']);
  assert.match(push(read('gitea', 'gitea-merge')).headMessage ?? '', /^Merge pull request/);
  assert.deepEqual(
    read('gitea', 'gitea-create').map(({ type }) => type),
    ['other'],
  );
});

test('Bitbucket: a push, without paths', () => {
  const found = push(read('bitbucket', 'bitbucket-push'));
  assert.deepEqual(found.repository, {
    id: '{673a6070-3421-46c9-9d48-90745f7bfe8e}',
    fullName: 'team_name/repo_name',
  });
  assert.deepEqual(short(found), {
    ref: 'branch name-of-branch',
    after: '709d658',
    isDeleted: false,
    isForced: false,
    isTruncated: true,
    head: 'new commit message',
  });
  assert.deepEqual(
    found.commits.map(({ added }) => added),
    [null, null],
  );
});

test('Bitbucket: tags, deletions, forced pushes and merges', () => {
  assert.deepEqual(push(read('bitbucket', 'bitbucket-tag-push')).ref, { type: 'tag', name: 'v1.0' });
  const gone = push(read('bitbucket', 'bitbucket-branch-deletion'));
  assert.deepEqual([gone.ref.name, gone.after, gone.isDeleted], ['feature/old', zero, true]);
  assert.equal(push(read('bitbucket', 'bitbucket-force-push')).isForced, true);
  assert.match(push(read('bitbucket', 'bitbucket-merge')).headMessage ?? '', /^Merged in feature/);
  assert.deepEqual(
    read('bitbucket', 'bitbucket-fork').map(({ type }) => type),
    ['other'],
  );
});

test('Bitbucket: a push of several refs is one delivery for each, with numbers of their own', () => {
  const all = read('bitbucket', 'bitbucket-several-changes');
  assert.deepEqual(
    all.map((each) => (each.type === 'push' ? `${each.ref.type} ${each.ref.name}` : each.type)),
    ['branch main', 'tag v2.0', 'branch gone', 'other'],
  );
  assert.equal(new Set(all.map(({ deliveryId }) => deliveryId)).size, 4);
  assert.equal(all[0]?.deliveryId, 'a3b7ad4d-5f29-4bd8-9a8d-d1f4d3a2a6a5');
});
