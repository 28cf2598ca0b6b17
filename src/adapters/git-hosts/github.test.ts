import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { at, gitClient, listAt, openBench } from '../../../lab/services/git/test-bench.ts';
import { faultOf } from '../../../test/support/faults.ts';
import { openAt } from '../../../test/support/git-host.ts';
import { Secret } from '../../secret.ts';

async function openScene(t: TestContext) {
  const bench = await openBench(t);
  const { host } = bench;
  host.createAccount({ login: 'acme', kind: 'org' });
  host.addMember({ org: 'acme', login: 'ada' });
  host.createAccount({ login: 'eve', kind: 'user' });
  await host.createRepository({ owner: 'ada', name: 'website' });
  await host.createRepository({ owner: 'eve', name: 'hidden', private: true });
  // The last: pushes are told apart by the second, and within one the newer repository counts as the newer push.
  await host.createRepository({ owner: 'acme', name: 'slipway', private: true });
  await host.commit('acme', 'slipway', { branch: 'main', message: 'One', files: { a: '1' } });
  const open = (token = bench.token) => openAt('github', host.url, { token });
  return { ...bench, open, github: await open() };
}

test('the account is told, with the scopes that are missing in words', async (t) => {
  const { host, github, open } = await openScene(t);
  const account = await github.account();
  assert.deepEqual([account.login, account.name], ['ada', 'Ada']);
  assert.deepEqual(account.missing, []);
  const narrow = await open(host.createToken({ login: 'ada', scopes: ['read:user'] }).token);
  const { missing } = await narrow.account();
  assert.deepEqual(
    missing.map(({ scope }) => scope),
    ['repo'],
  );
  assert.match(missing[0]?.needed ?? '', /private repositories\.$/);
});

test('all repositories of the account are listed, those of its organisations too, the newest push first', async (t) => {
  const { github } = await openScene(t);
  const { items, next } = await github.repositories({ limit: 100 });
  assert.deepEqual([items.map(({ fullName }) => fullName), next], [['acme/slipway', 'ada/website'], null]);
  const [first] = items;
  assert.deepEqual([first?.owner, first?.name, first?.isPrivate], ['acme', 'slipway', true]);
  assert.match(first?.cloneUrl ?? '', /\/acme\/slipway\.git$/);
  assert.ok(first?.pushedAt instanceof Date);
});

test('a part of a name finds a private repository of an organisation', async (t) => {
  const { github } = await openScene(t);
  for (const search of ['WAY', 'acme/', 'slipway']) {
    const { items } = await github.repositories({ search, limit: 10 });
    assert.deepEqual(
      items.map(({ fullName }) => fullName),
      ['acme/slipway'],
      search,
    );
  }
  assert.deepEqual(await github.repositories({ search: 'hidden', limit: 10 }), { items: [], next: null });
});

test('lists go on where they stopped, searched or not, and all of them comes to an end', async (t) => {
  const { host, github } = await openScene(t);
  for (let index = 0; index < 12; index++)
    await host.createRepository({ owner: 'ada', name: `app-${index}` });
  for (const query of [{ limit: 5 }, { limit: 5, search: 'a' }]) {
    const names: string[] = [];
    let page: string | undefined;
    for (let count = 0; count < 4; count++) {
      const found = await github.repositories({ ...query, ...(page !== undefined && { page }) });
      names.push(...found.items.map(({ fullName }) => fullName));
      if (found.next === null) break;
      assert.equal(found.items.length, 5);
      page = found.next;
    }
    assert.equal(new Set(names).size, 14);
    assert.equal(names.length, 14);
  }
  const all: string[] = [];
  for await (const some of github.allRepositories()) all.push(...some.map(({ id }) => id));
  assert.equal(new Set(all).size, 14);
  const wrong = await faultOf(() => github.repositories({ limit: 5, page: 'invented' }));
  assert.equal(wrong.code, 'invalid_input');
});

test('a repository is found by its name, and one that is hidden is not there', async (t) => {
  const { github, open, host } = await openScene(t);
  const found = await github.repository({ fullName: 'acme/slipway' });
  assert.deepEqual([found.defaultBranch, found.isArchived, found.isFork], ['main', false, false]);
  for (const fullName of ['eve/hidden', 'ada/none']) {
    const fault = await faultOf(() => github.repository({ fullName }));
    assert.equal(fault.code, 'repository_not_found');
    assert.match(fault.hint ?? '', /token may read it/);
  }
  const foreign = await open(host.createToken({ login: 'eve', scopes: ['repo'] }).token);
  assert.equal(
    (await faultOf(() => foreign.repository({ fullName: 'acme/slipway' }))).code,
    'repository_not_found',
  );
});

test('branches are listed with the default and the protected one, page after page, and searched', async (t) => {
  const { host, github, cloneUrl } = await openScene(t);
  const git = gitClient(t);
  const clone = await git.clone(cloneUrl('acme/slipway'));
  const names = Array.from({ length: 120 }, (_, index) => `feature/${String(index).padStart(3, '0')}`);
  await git(clone, 'push', '--quiet', 'origin', ...names.map((name) => `HEAD:refs/heads/${name}`));
  await host.idle();
  host.protect('acme', 'slipway', { branch: 'main', protected: true });
  const ref = { fullName: 'acme/slipway' };
  const first = await github.branches(ref, { limit: 100 });
  assert.equal(first.items.length, 100);
  const rest = await github.branches(ref, { limit: 100, page: first.next ?? '' });
  const all = [...first.items, ...rest.items];
  assert.deepEqual([all.length, rest.next], [121, null]);
  const main = all.filter(({ isDefault }) => isDefault);
  assert.deepEqual(
    main.map(({ name, isProtected }) => [name, isProtected]),
    [['main', true]],
  );
  assert.match(main[0]?.sha ?? '', /^[0-9a-f]{40}$/);
  // This host has no list of matching refs: its branches are gone through.
  const found = await github.branches(ref, { search: 'URE/11', limit: 4 });
  assert.deepEqual(
    found.items.map(({ name }) => name),
    ['feature/110', 'feature/111', 'feature/112', 'feature/113'],
  );
  const more = await github.branches(ref, { search: 'URE/11', limit: 10, page: found.next ?? '' });
  assert.deepEqual([more.items.length, more.next], [6, null]);
});

test('a hook is made once however often it is asked for, and is taken away', async (t) => {
  const { github, api } = await openScene(t);
  const ref = { fullName: 'acme/slipway' };
  const input = { url: 'http://127.0.0.1:9/hook', secret: new Secret('hook-secret') };
  await github.createHook(ref, input);
  const { hookId } = await github.createHook(ref, input);
  const hooks = listAt((await api('/repos/acme/slipway/hooks')).json);
  assert.deepEqual(
    hooks.map((hook) => [String(at(hook, 'id')), at(hook, 'events'), at(hook, 'config', 'content_type')]),
    [[hookId, ['push'], 'json']],
  );
  await github.deleteHook(ref, hookId);
  assert.deepEqual(listAt((await api('/repos/acme/slipway/hooks')).json), []);
  await github.deleteHook(ref, hookId);
});

test('a token without the scope for hooks is refused with the scopes that would do', async (t) => {
  const { host, open } = await openScene(t);
  const reading = await open(host.createToken({ login: 'ada', scopes: ['read:repo_hook'] }).token);
  const input = { url: 'http://127.0.0.1:9/hook', secret: new Secret('s') };
  const fault = await faultOf(() => reading.createHook({ fullName: 'ada/website' }, input));
  assert.equal(fault.code, 'provider_scopes_missing');
  assert.match(fault.message, /write:repo_hook/);
});

test('a token that was revoked is noticed', async (t) => {
  const { host, github, token } = await openScene(t);
  await github.account();
  host.revokeToken(token);
  const fault = await faultOf(() => github.repositories({ limit: 10 }));
  assert.equal(fault.code, 'provider_rejected');
  assert.match(fault.message, /wrong, expired or revoked/);
});

test('a used up limit is told with its end, and nothing is sent before that, whoever asks with the token', async (t) => {
  const { host, github, open, token } = await openScene(t);
  host.setRateLimit({ token, limit: 100, remaining: 1 });
  await github.repository({ fullName: 'ada/website' });
  // The last answer said that there is nothing left: the next request is not even sent.
  const fault = await faultOf(() => github.repository({ fullName: 'ada/website' }));
  assert.equal(fault.code, 'provider_rate_limited');
  const seconds = fault.retryAfterSeconds ?? 0;
  assert.ok(seconds > 3_400 && seconds <= 3_600, String(seconds));
  host.setRateLimit({ token, limit: 100, remaining: 100 });
  const again = await open();
  assert.equal((await faultOf(() => again.account())).code, 'provider_rate_limited');
});

test('the secondary limit, trouble of the host and silence are told apart', async (t) => {
  const { host, github, open } = await openScene(t);
  const other = host.createToken({ login: 'ada', scopes: ['repo'] }).token;
  host.setRateLimit({ token: other, limit: 5000, remaining: 5000, secondarySeconds: 30 });
  const limited = await faultOf(async () => (await open(other)).account());
  assert.deepEqual([limited.code, (limited.retryAfterSeconds ?? 0) <= 30], ['provider_rate_limited', true]);
  host.setFault({ pathPrefix: '/api/v3/user', status: 502 });
  assert.equal((await faultOf(() => github.account())).code, 'provider_failed');
  host.setFault({ pathPrefix: '/api/v3/user', status: null, delayMs: 60_000 });
  const reason = new Error('enough');
  const stop = new AbortController();
  const waiting = github.account(stop.signal);
  setImmediate(() => stop.abort(reason));
  await assert.rejects(waiting, (error) => error === reason);
});
