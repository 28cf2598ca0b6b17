import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type Answering, openAt, paged, startHost } from '../../../test/support/git-host.ts';
import { Secret } from '../../secret.ts';

const uuid = (index: number) => `{00000000-0000-0000-0000-${String(index).padStart(12, '0')}}`;
const repository = (index: number, workspace: string, slug: string) => ({
  uuid: uuid(index),
  full_name: `${workspace}/${slug}`,
  name: slug,
  slug,
  description: '',
  is_private: true,
  parent: null,
  mainbranch: { type: 'branch', name: 'main' },
  updated_on: '2026-01-02T03:04:05.000000+00:00',
});
const byWorkspace: Readonly<Record<string, ReturnType<typeof repository>[]>> = {
  acme: Array.from({ length: 130 }, (_, index) =>
    repository(index, 'acme', index === 7 ? 'slipway' : `app-${index}`),
  ),
  empty: [],
  ada: [repository(500, 'ada', 'site')],
};
const branches = Array.from({ length: 1_000 }, (_, index) => ({
  name: index === 0 ? 'main' : `feature/${index}`,
  target: { hash: index.toString(16).padStart(40, '0') },
}));

interface Scene {
  readonly token?: string;
  readonly username?: string;
}

async function openScene(t: TestContext, extra: Answering = () => undefined, how: Scene = {}) {
  const hooks = new Map<string, Record<string, unknown>>();
  let url = '';
  const host = await startHost(t, (request) => {
    const { method, path, query } = request;
    const special = extra(request);
    if (special) return special;
    const page = (all: readonly unknown[]) => {
      const { items, next } = paged(request, url, all, 'pagelen');
      return { json: { values: items, ...(next === null ? {} : { next }) } };
    };
    const wanted = /"(.*?)"/.exec(query.get('q') ?? '')?.[1] ?? '';
    if (path === '/2.0/user')
      return {
        json: {
          uuid: uuid(1),
          nickname: 'ada',
          display_name: 'Ada',
          links: { avatar: { href: `${url}/a` } },
        },
        headers: { 'x-oauth-scopes': 'account, repository' },
      };
    if (path === '/2.0/user/workspaces')
      return page(
        Object.keys(byWorkspace).map((slug) => ({ type: 'workspace_access', workspace: { slug } })),
      );
    const one = byWorkspace.acme?.[7];
    const at = '/2.0/repositories/acme/slipway';
    if (path === at || path === `/2.0/repositories/%7B%7D/${encodeURIComponent(uuid(7))}`)
      return { json: one };
    if (path === `${at}/refs/branches`) return page(branches.filter(({ name }) => name.includes(wanted)));
    if (path === `${at}/hooks` && method === 'GET') return page([...hooks.values()]);
    if (path === `${at}/hooks` && method === 'POST') {
      const id = uuid(900 + hooks.size);
      hooks.set(id, { ...(typeof request.body === 'object' ? request.body : {}), uuid: id });
      return { status: 201, json: hooks.get(id) };
    }
    const id = decodeURIComponent(path.slice(`${at}/hooks/`.length));
    if (path.startsWith(`${at}/hooks/`) && hooks.has(id)) {
      if (method === 'DELETE') hooks.delete(id);
      return method === 'DELETE' ? { status: 204 } : { json: hooks.get(id) };
    }
    const list = byWorkspace[/^\/2\.0\/repositories\/([^/]+)$/.exec(path)?.[1] ?? ''];
    return list && page(list.filter(({ name }) => name.includes(wanted)));
  });
  url = host.url;
  return { host, hooks, bitbucket: await openAt('bitbucket', host.url, how) };
}

test('each kind of token is sent in its own way, and a missing scope has the name of that kind', async (t) => {
  const ways = [
    [{ token: 'access-1' }, 'Bearer access-1', 'repository'],
    [
      { token: 'app-1', username: 'ada' },
      `Basic ${Buffer.from('ada:app-1').toString('base64')}`,
      'repository',
    ],
    [
      { token: 'api-1', username: 'ada@example.com' },
      `Basic ${Buffer.from('ada@example.com:api-1').toString('base64')}`,
      'read:repository:bitbucket',
    ],
  ] as const;
  for (const [how, header, scope] of ways) {
    const { host, bitbucket } = await openScene(t, undefined, how);
    const account = await bitbucket.account();
    assert.deepEqual([account.login, account.name, account.missing], ['ada', 'Ada', []]);
    assert.ok(host.requests.every(({ headers }) => headers.authorization === header));
    const headers = { 'x-oauth-scopes': 'account' };
    const narrow = await openScene(t, () => ({ json: { uuid: uuid(1) }, headers }), how);
    const { missing } = await narrow.bitbucket.account();
    assert.deepEqual(
      missing.map((each) => each.scope),
      [scope],
    );
  }
});

test('a token of a repository may not ask who it is, and is taken; one of a person has to', async (t) => {
  const lacking = {
    type: 'error',
    error: {
      message: 'Your credentials lack one or more required privilege scopes.',
      detail: { granted: ['repository'], required: ['account'] },
    },
  };
  const refuse: Answering = ({ path }) => (path === '/2.0/user' ? { status: 403, json: lacking } : undefined);
  const nobody = await openScene(t, refuse);
  assert.equal((await nobody.bitbucket.account()).login, 'x-token-auth');
  const person = await openScene(t, refuse, { username: 'ada' });
  const fault = await faultOf(() => person.bitbucket.account());
  assert.deepEqual(
    [fault.code, /lacks the scope account at/.test(fault.message)],
    ['provider_scopes_missing', true],
  );
});

test('the repositories of all workspaces come, page after page, past those that are empty', async (t) => {
  const { host, bitbucket } = await openScene(t);
  const all = [];
  for await (const some of bitbucket.allRepositories()) all.push(...some);
  assert.equal(all.length, 131);
  assert.equal(all.at(-1)?.fullName, 'ada/site');
  assert.equal(all[7]?.cloneUrl, `${host.url}/acme/slipway.git`);
  assert.ok(
    host.requests.every(
      ({ path, query }) => !path.includes('/repositories/') || query.get('role') === 'member',
    ),
  );
});

test('a search is answered by the host, in each workspace, with what was typed as a value', async (t) => {
  const { host, bitbucket } = await openScene(t);
  const found = await bitbucket.repositories({ search: 'lip', limit: 10 });
  assert.deepEqual(
    found.items.map(({ fullName }) => fullName),
    ['acme/slipway'],
  );
  const rest = await bitbucket.repositories({ search: 'lip', limit: 10, page: found.next ?? '' });
  assert.deepEqual(rest, { items: [], next: null });
  await bitbucket.repositories({ search: 'x" OR name != "', limit: 10 });
  assert.equal(
    host.requests.at(-1)?.query.get('q'),
    'name ~ "x\\" OR name != \\"" OR slug ~ "x\\" OR name != \\""',
  );
});

test('a next page on another address is not followed', async (t) => {
  for (const next of ['http://169.254.169.254/2.0/user/workspaces?page=2', '/2.0/other?page=2', 'nonsense']) {
    const { bitbucket, host } = await openScene(t, ({ path }) =>
      path === '/2.0/user/workspaces' ? { json: { values: [], next } } : undefined,
    );
    const fault = await faultOf(() => bitbucket.repositories({ limit: 10 }));
    assert.equal(fault.code, 'provider_failed', next);
    assert.equal(host.requests.length, 1);
  }
});

test('a repository is found by its name and by its id, and its branches are searched', async (t) => {
  const { bitbucket } = await openScene(t);
  assert.equal((await bitbucket.repository({ fullName: 'acme/slipway' })).id, uuid(7));
  assert.equal((await bitbucket.repository({ id: uuid(7) })).fullName, 'acme/slipway');
  const ref = { fullName: 'acme/slipway' };
  const first = await bitbucket.branches(ref, { limit: 100 });
  assert.deepEqual(
    [first.items.length, first.items[0]?.isDefault, first.items[1]?.isDefault],
    [100, true, false],
  );
  const second = await bitbucket.branches(ref, { limit: 100, page: first.next ?? '' });
  assert.equal(second.items[0]?.name, 'feature/100');
  const { items } = await bitbucket.branches(ref, { search: 'feature/77', limit: 100 });
  assert.equal(items.length, 11);
});

test('a hook is made once, with its secret, and taken away', async (t) => {
  const { bitbucket, hooks } = await openScene(t);
  const ref = { fullName: 'acme/slipway' };
  const input = { url: 'https://deploy.example.com/hook', secret: new Secret('hook-secret') };
  await bitbucket.createHook(ref, input);
  hooks.set('{other}', { uuid: '{other}', url: 'https://other.example.com/' });
  const { hookId } = await bitbucket.createHook(ref, input);
  assert.deepEqual([...hooks.keys()].sort(), [hookId, '{other}'].sort());
  const { secret, events } = hooks.get(hookId) ?? {};
  assert.deepEqual([secret, events], ['hook-secret', ['repo:push']]);
  await bitbucket.deleteHook(ref, hookId);
  assert.equal(hooks.has(hookId), false);
  await bitbucket.deleteHook(ref, hookId);
});
