import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type Answering, openAt, paged, startHost } from '../../../test/support/git-host.ts';
import { Secret } from '../../secret.ts';

const repository = (id: number, name: string) => ({
  id,
  name,
  full_name: `crew/${name}`,
  owner: { id: 2, login: 'crew' },
  description: '',
  private: id % 2 === 0,
  archived: false,
  fork: false,
  empty: id === 3,
  default_branch: 'main',
  clone_url: 'http://localhost:3000/wrong.git',
  updated_at: '2026-01-02T03:04:05Z',
});
const repositories = Array.from({ length: 120 }, (_, index) =>
  repository(index + 1, index === 7 ? 'slipway' : `app-${index}`),
);
const branches = Array.from({ length: 1_200 }, (_, index) => ({
  name: index === 0 ? 'main' : `feature/${index}`,
  commit: { id: index.toString(16).padStart(40, '0'), message: 'x' },
  protected: index === 0,
}));

async function openScene(t: TestContext, extra: Answering = () => undefined) {
  const hooks = new Map<number, { config: unknown; [more: string]: unknown }>();
  let url = '';
  const host = await startHost(t, (request) => {
    const { method, path, query } = request;
    const special = extra(request);
    if (special) return special;
    const page = (all: readonly unknown[]) => {
      // Asking for more than 50 gets 50.
      if (Number(query.get('limit')) > 50) throw new Error('more than a page holds');
      return paged(request, url, all, 'limit');
    };
    if (path === '/api/v1/user')
      return { json: { id: 5, login: 'ada', full_name: '', avatar_url: `${url}/a.png` } };
    if (path === '/api/v1/repos/search') {
      assert.deepEqual([query.get('uid'), query.get('sort'), query.get('order')], ['5', 'updated', 'desc']);
      const word = query.get('q') ?? '';
      const { items, link } = page(repositories.filter(({ name }) => name.includes(word)));
      return { json: { ok: true, data: items }, headers: link };
    }
    if (path === '/api/v1/repos/crew/slipway' || path === '/api/v1/repositories/8')
      return { json: repositories[7] };
    if (path === '/api/v1/repos/crew/slipway/branches') {
      const { items, link } = page(branches);
      return { json: items, headers: link };
    }
    if (path === '/api/v1/repos/crew/slipway/git/refs/heads')
      return {
        json: branches.map(({ name, commit }) => ({ ref: `refs/heads/${name}`, object: { sha: commit.id } })),
      };
    if (path === '/api/v1/repos/crew/slipway/hooks' && method === 'GET')
      return { json: [...hooks].map(([id, hook]) => ({ ...hook, id })) };
    if (path === '/api/v1/repos/crew/slipway/hooks' && method === 'POST') {
      const id = hooks.size + 100;
      const { body } = request;
      if (typeof body === 'object' && body !== null && 'config' in body) hooks.set(id, { ...body });
      return { status: 201, json: { ...hooks.get(id), id } };
    }
    const id = Number(/^\/api\/v1\/repos\/crew\/slipway\/hooks\/(\d+)$/.exec(path)?.[1]);
    if (!hooks.has(id)) return undefined;
    if (method === 'DELETE') hooks.delete(id);
    return method === 'DELETE' ? { status: 204 } : { json: { ...hooks.get(id), id } };
  });
  url = host.url;
  return { host, hooks, gitea: await openAt('gitea', host.url, { token: 'gitea-1' }) };
}

test('the account is told; whether its token may read is tried', async (t) => {
  const { host, gitea } = await openScene(t);
  const account = await gitea.account();
  assert.deepEqual([account.login, account.name, account.missing], ['ada', null, []]);
  assert.ok(host.requests.every(({ headers }) => headers.authorization === 'token gitea-1'));
  const refused =
    'token does not have at least one of required scope(s), required=[read:repository], token scope=read:user';
  const narrow = await openScene(t, ({ path }) =>
    path.endsWith('/search') ? { status: 403, json: { message: refused } } : undefined,
  );
  const { missing } = await narrow.gitea.account();
  assert.deepEqual(
    missing.map(({ scope }) => scope),
    ['read:repository'],
  );
});

test('a missing scope is named, as newer and as older servers write it', async (t) => {
  for (const said of [
    'required scope(s): [read:user]',
    'required scope(s), required=[read:user], token scope=x',
  ]) {
    const { gitea } = await openScene(t, () => ({
      status: 403,
      json: { message: `token does not have at least one of ${said}` },
    }));
    const fault = await faultOf(() => gitea.account());
    assert.deepEqual(
      [fault.code, fault.message.includes('scope read:user at')],
      ['provider_scopes_missing', true],
      said,
    );
  }
});

test('all pages are followed, in the size that the server gives, at the address that the user gave', async (t) => {
  const { host, gitea } = await openScene(t);
  const all = [];
  for await (const some of gitea.allRepositories()) all.push(...some);
  assert.equal(all.length, 120);
  assert.equal(all[7]?.cloneUrl, `${host.url}/crew/slipway.git`);
  assert.deepEqual([all[2]?.defaultBranch, all[7]?.defaultBranch], [null, 'main']);
  const asked = host.requests.filter(({ path }) => path === '/api/v1/user');
  assert.equal(asked.length, 1, 'who it is was asked once');
});

test('a search is answered by the server, with the owner held against the whole name', async (t) => {
  const { gitea } = await openScene(t);
  assert.deepEqual(
    (await gitea.repositories({ search: 'lip', limit: 100 })).items.map(({ id }) => id),
    ['8'],
  );
  assert.deepEqual(
    (await gitea.repositories({ search: 'crew/sli', limit: 100 })).items.map(({ id }) => id),
    ['8'],
  );
  assert.deepEqual((await gitea.repositories({ search: 'other/sli', limit: 100 })).items, []);
});

test('branches come in pages and are searched with one answer', async (t) => {
  const { host, gitea } = await openScene(t);
  const ref = { id: '8' };
  const first = await gitea.branches(ref, { limit: 100 });
  assert.deepEqual(
    [first.items.length, first.items[0]?.isDefault, first.items[0]?.isProtected],
    [50, true, true],
  );
  const second = await gitea.branches(ref, { limit: 100, page: first.next ?? '' });
  assert.equal(second.items[0]?.name, 'feature/50');
  host.requests.length = 0;
  const found = await gitea.branches(ref, { search: 'e/119', limit: 2 });
  assert.deepEqual(
    found.items.map(({ name }) => name),
    ['feature/119', 'feature/1190'],
  );
  assert.equal(host.requests.length, 2);
  const rest = await gitea.branches(ref, { search: 'e/119', limit: 100, page: found.next ?? '' });
  assert.equal(rest.items[0]?.name, 'feature/1191');
});

test('a repository without a commit has no branches to search', async (t) => {
  const { gitea } = await openScene(t, ({ path }) =>
    path.endsWith('/git/refs/heads') ? { status: 404, json: { message: 'no refs' } } : undefined,
  );
  assert.deepEqual(await gitea.branches({ id: '8' }, { search: 'x', limit: 5 }), { items: [], next: null });
});

test('a hook is made once, with its secret, and taken away', async (t) => {
  const { gitea, hooks } = await openScene(t);
  const ref = { fullName: 'crew/slipway' };
  const input = { url: 'https://deploy.example.com/hook', secret: new Secret('hook-secret') };
  await gitea.createHook(ref, input);
  hooks.set(99, { config: { url: 'https://other.example.com/' } });
  const { hookId } = await gitea.createHook(ref, input);
  assert.deepEqual(new Set(hooks.keys()), new Set([99, Number(hookId)]));
  assert.deepEqual(hooks.get(Number(hookId)), {
    type: 'gitea',
    active: true,
    events: ['push', 'delete'],
    config: { url: input.url, content_type: 'json', secret: 'hook-secret' },
  });
  await gitea.deleteHook(ref, hookId);
  assert.equal(hooks.has(Number(hookId)), false);
  await gitea.deleteHook(ref, hookId);
});
