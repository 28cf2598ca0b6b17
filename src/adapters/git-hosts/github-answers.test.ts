import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { openAt, startHost } from '../../../test/support/git-host.ts';

test('names that would lead to another path of the API are refused without a request', async (t) => {
  const host = await startHost(t, () => ({ json: {} }));
  for (const kind of ['github', 'gitlab', 'gitea', 'bitbucket'] as const) {
    const opened = await openAt(kind, host.url);
    for (const fullName of [
      '../user',
      'a/..',
      'a',
      'a/b?x=1',
      'a/b#c',
      '/a',
      'a/',
      'a/%2e%2e',
      'a/b\nc',
      'a\\b/c',
    ]) {
      const fault = await faultOf(() => opened.repository({ fullName }));
      assert.equal(fault.code, 'invalid_input', `${kind} ${fullName}`);
    }
  }
  assert.deepEqual(host.requests, []);
});

test('thousands of branches are searched with two requests', async (t) => {
  const refs = Array.from({ length: 5_000 }, (_, index) => ({
    ref: `refs/heads/team/branch-${index}`,
    object: { sha: index.toString(16).padStart(40, '0'), type: 'commit' },
  }));
  const repository = {
    id: 7,
    full_name: 'a/b',
    name: 'b',
    owner: { login: 'a' },
    private: true,
    default_branch: 'team/branch-42',
  };
  const host = await startHost(t, ({ path, query }) => {
    if (path === '/api/v3/repositories/7') return { json: repository };
    if (path === '/api/v3/repos/a/b/git/matching-refs/heads') return { json: refs };
    if (path === '/api/v3/repos/a/b/branches' && query.get('protected') === 'true')
      return { json: [{ name: 'team/branch-420', commit: { sha: 'x' }, protected: true }] };
    return undefined;
  });
  const github = await openAt('github', host.url);
  const { items, next } = await github.branches({ id: '7' }, { search: 'H-42', limit: 5 });
  assert.deepEqual(
    items.map(({ name, isDefault, isProtected }) => [name, isDefault, isProtected]),
    [
      ['team/branch-42', true, false],
      ['team/branch-420', false, true],
      ['team/branch-421', false, false],
      ['team/branch-422', false, false],
      ['team/branch-423', false, false],
    ],
  );
  assert.equal(host.requests.length, 3, 'the repository, its refs, its protected branches');
  const rest = await github.branches({ id: '7' }, { search: 'H-42', limit: 5, page: next ?? '' });
  assert.equal(rest.items[0]?.name, 'team/branch-424');
});

test('a fine-grained token tells no scopes: what it lacks is named as a permission', async (t) => {
  const host = await startHost(t, ({ path }) =>
    path === '/api/v3/user'
      ? {
          json: { login: 'ada', name: null, avatar_url: 'javascript:alert(1)' },
          headers: { 'github-authentication-token-expiration': '2031-05-01 12:00:00 UTC' },
        }
      : {
          status: 403,
          json: { message: 'Resource not accessible by personal access token' },
          headers: { 'x-accepted-github-permissions': 'hooks=write' },
        },
  );
  const github = await openAt('github', host.url);
  const account = await github.account();
  assert.deepEqual([account.missing, account.avatarUrl], [[], null]);
  assert.equal(account.tokenExpiresAt?.toISOString(), '2031-05-01T12:00:00.000Z');
  const fault = await faultOf(() => github.repository({ fullName: 'a/b' }));
  assert.equal(fault.code, 'provider_scopes_missing');
  assert.match(fault.hint ?? '', /permission hooks: write/);
});

test('a repository that was renamed is found under its new place, on the same host only', async (t) => {
  const repository = { id: 7, full_name: 'a/new', name: 'new', owner: { login: 'a' }, private: false };
  const host = await startHost(t, ({ path }) => {
    if (path === '/api/v3/repos/a/old')
      return { status: 301, headers: { location: '/api/v3/repositories/7' } };
    if (path === '/api/v3/repositories/7') return { json: repository };
    if (path === '/api/v3/repos/a/loop')
      return { status: 301, headers: { location: '/api/v3/repos/a/loop' } };
    if (path === '/api/v3/repos/a/page') return { status: 302, headers: { location: '/login' } };
    return { status: 302, headers: { location: 'http://169.254.169.254/api/v3/x' } };
  });
  const github = await openAt('github', host.url);
  assert.equal((await github.repository({ fullName: 'a/old' })).fullName, 'a/new');
  for (const name of ['loop', 'page', 'away']) {
    const fault = await faultOf(() => github.repository({ fullName: `a/${name}` }));
    assert.equal(fault.code, 'provider_failed', name);
  }
});
