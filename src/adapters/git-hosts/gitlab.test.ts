import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { faultOf } from '../../../test/support/faults.ts';
import { type Answering, openAt, paged, startHost } from '../../../test/support/git-host.ts';
import { Secret } from '../../secret.ts';

const project = (id: number, path: string) => ({
  id,
  name: path.toUpperCase(),
  path: path.slice(path.lastIndexOf('/') + 1),
  path_with_namespace: path,
  description: id % 2 ? 'mentions slipway' : null,
  visibility: 'private',
  archived: false,
  default_branch: 'main',
  http_url_to_repo: 'http://169.254.169.254/stolen.git',
  web_url: 'http://169.254.169.254/stolen',
  last_activity_at: '2026-01-02T03:04:05.000Z',
});

const projects = Array.from({ length: 250 }, (_, index) =>
  project(index + 1, index === 7 ? 'group/sub/slipway' : `group/app-${index}`),
);
const branches = Array.from({ length: 3_000 }, (_, index) => ({
  name: `feature/${index}`,
  commit: { id: index.toString(16).padStart(40, '0') },
  default: index === 3,
  protected: index === 3,
}));

async function openScene(t: TestContext, extra: Answering = () => undefined, token?: string) {
  const hooks = new Map<number, unknown>();
  let url = '';
  const host = await startHost(t, (request) => {
    const { method, path, query } = request;
    const special = extra(request);
    if (special) return special;
    const answer = (all: readonly unknown[]) => {
      const { items, link, nextPage } = paged(request, url, all, 'per_page');
      return { json: items, headers: { ...link, 'x-next-page': nextPage } };
    };
    const search = (query.get('search') ?? '').toLowerCase();
    if (path === '/root/api/v4/user')
      return { json: { id: 1, username: 'ada', name: 'Ada', avatar_url: null } };
    if (path === '/root/api/v4/personal_access_tokens/self')
      return {
        json: { id: 1, scopes: ['read_api', 'read_repository'], expires_at: '2031-02-03', active: true },
      };
    if (path === '/root/api/v4/projects') {
      assert.deepEqual([query.get('membership'), query.get('order_by')], ['true', 'last_activity_at']);
      const fits = (text: string | null) => text?.toLowerCase().includes(search) ?? false;
      return answer(projects.filter((each) => fits(each.path_with_namespace) || fits(each.description)));
    }
    if (path === '/root/api/v4/projects/group%2Fsub%2Fslipway' || path === '/root/api/v4/projects/8')
      return { json: projects[7] };
    if (path === '/root/api/v4/projects/8/repository/branches')
      return answer(branches.filter(({ name }) => name.includes(search)));
    if (path === '/root/api/v4/projects/8/hooks' && method === 'GET') return answer([...hooks.values()]);
    if (path === '/root/api/v4/projects/8/hooks' && method === 'POST') {
      const id = hooks.size + 100;
      const body = typeof request.body === 'object' ? request.body : {};
      hooks.set(id, { ...body, id });
      return { status: 201, json: hooks.get(id) };
    }
    const id = Number(/^\/root\/api\/v4\/projects\/8\/hooks\/(\d+)$/.exec(path)?.[1]);
    if (!hooks.has(id)) return undefined;
    if (method === 'DELETE') {
      hooks.delete(id);
      return { status: 204 };
    }
    return { json: hooks.get(id) };
  });
  url = host.url;
  const gitlab = await openAt('gitlab', `${host.url}/root`, token === undefined ? {} : { token });
  return { host, hooks, gitlab };
}

test('the account is told with its expiry', async (t) => {
  const { host, gitlab } = await openScene(t, undefined, 'glpat-1');
  const account = await gitlab.account();
  assert.deepEqual([account.login, account.missing], ['ada', []]);
  assert.equal(account.tokenExpiresAt?.toISOString(), '2031-02-03T00:00:00.000Z');
  assert.ok(host.requests.every(({ headers }) => headers.authorization === 'Bearer glpat-1'));
});

test('a token that lacks everything is told what each is for; one that does not tell is taken', async (t) => {
  const narrow = await openScene(t, ({ path }) =>
    path.endsWith('/self') ? { json: { scopes: ['read_user'] } } : undefined,
  );
  const { missing } = await narrow.gitlab.account();
  assert.deepEqual(
    missing.map(({ scope }) => scope),
    ['read_api', 'read_repository'],
  );
  const silent = await openScene(t, ({ path }) =>
    path.endsWith('/self') ? { status: 404, json: { message: '404 Not Found' } } : undefined,
  );
  const account = await silent.gitlab.account();
  assert.deepEqual(account.missing, []);
});

test('all pages of the list are followed, and addresses are those that the user gave', async (t) => {
  const { host, gitlab } = await openScene(t);
  const all = [];
  for await (const some of gitlab.allRepositories()) all.push(...some);
  assert.deepEqual([all.length, host.requests.length], [250, 3]);
  const found = all.find(({ id }) => id === '8');
  assert.deepEqual(
    [found?.fullName, found?.owner, found?.name],
    ['group/sub/slipway', 'group/sub', 'slipway'],
  );
  assert.equal(found?.cloneUrl, `${host.url}/root/group/sub/slipway.git`);
  assert.equal(found?.webUrl, `${host.url}/root/group/sub/slipway`);
});

test('a search asks GitLab, takes names only, and goes through the list for a word that is too short', async (t) => {
  const { host, gitlab } = await openScene(t);
  const found = await gitlab.repositories({ search: 'Slip', limit: 100 });
  assert.deepEqual(
    found.items.map(({ id }) => id),
    ['8'],
  );
  assert.equal(host.requests[0]?.query.get('search_namespaces'), 'true');
  const short = await gitlab.repositories({ search: 'sl', limit: 100 });
  assert.deepEqual([short.items.map(({ id }) => id), short.next], [['8'], null]);
  assert.equal(host.requests.at(-1)?.query.get('search'), null);
});

test('a repository is found by its path in groups and by its number', async (t) => {
  const { gitlab } = await openScene(t);
  assert.equal((await gitlab.repository({ fullName: 'group/sub/slipway' })).id, '8');
  assert.equal((await gitlab.repository({ id: '8' })).fullName, 'group/sub/slipway');
  assert.equal((await faultOf(() => gitlab.repository({ id: '9' }))).code, 'repository_not_found');
  assert.equal((await faultOf(() => gitlab.repository({ id: '9/hooks' }))).code, 'invalid_input');
});

test('thousands of branches come in pages, and are searched by GitLab', async (t) => {
  const { gitlab } = await openScene(t);
  const names: string[] = [];
  let page: string | null | undefined;
  while (page !== null) {
    const found = await gitlab.branches({ id: '8' }, { limit: 100, ...(page !== undefined && { page }) });
    names.push(...found.items.map(({ name }) => name));
    page = found.next;
  }
  assert.equal(new Set(names).size, 3_000);
  const { items } = await gitlab.branches({ id: '8' }, { search: 'feature/3', limit: 1 });
  assert.deepEqual(items, [
    { name: 'feature/3', sha: '3'.padStart(40, '0'), isDefault: true, isProtected: true },
  ]);
});

test('a hook is made once, with its secret, and taken away', async (t) => {
  const { gitlab, hooks } = await openScene(t);
  const ref = { id: '8' };
  const input = { url: 'https://deploy.example.com/hook', secret: new Secret('hook-secret') };
  await gitlab.createHook(ref, input);
  hooks.set(99, { id: 99, url: 'https://other.example.com/' });
  const { hookId } = await gitlab.createHook(ref, input);
  assert.deepEqual(new Set(hooks.keys()), new Set([99, Number(hookId)]));
  assert.deepEqual(hooks.get(Number(hookId)), {
    id: Number(hookId),
    url: input.url,
    push_events: true,
    tag_push_events: true,
    enable_ssl_verification: true,
    token: 'hook-secret',
  });
  await gitlab.deleteHook(ref, hookId);
  assert.equal(hooks.has(Number(hookId)), false);
  await gitlab.deleteHook(ref, hookId);
});

test('an insufficient scope is named, from the body or from the header', async (t) => {
  const words = { error: 'insufficient_scope', error_description: 'The request requires higher privileges.' };
  const inBody = await openScene(t, () => ({ status: 403, json: { ...words, scope: 'api read_api' } }));
  const first = await faultOf(() => inBody.gitlab.account());
  assert.deepEqual(
    [first.code, first.message.includes('api or read_api')],
    ['provider_scopes_missing', true],
  );
  const challenge = 'Bearer realm="Protected by OAuth 2.0", error="insufficient_scope", scope="api"';
  const inHeader = await openScene(t, () => ({
    status: 403,
    json: words,
    headers: { 'www-authenticate': challenge },
  }));
  assert.match((await faultOf(() => inHeader.gitlab.account())).message, /lacks the scope api at/);
});
