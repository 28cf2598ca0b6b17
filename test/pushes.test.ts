import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, type TestContext, test } from 'node:test';
import { pollDueProjects } from '../src/areas/pushes/poll-branches.ts';
import { newId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import { closeTestApp, openTestApp, type TestApp } from './support/app.ts';
import { type GitScene, startGitScene } from './support/git.ts';
import { analysed, expressApp, newProject } from './support/projects.ts';
import { until } from './support/until.ts';

interface Commit {
  readonly sha: string;
  readonly branch: string;
}

/** What the instance of this file was told to deploy, by workspace. */
const takenIn = new Map<string, Commit[]>();
let opened: Promise<TestApp> | undefined;
const instance = () => {
  opened ??= openTestApp({
    env: { SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on' },
    deployPush: async (_tx, workspaceId, _environment, commit) => void takenIn.get(workspaceId)?.push(commit),
  });
  return opened;
};
after(async () => {
  if (opened) await closeTestApp(await opened);
});

interface PushScene extends GitScene {
  readonly id: string;
  readonly taken: Commit[];
  deliveries(): Promise<Record<string, unknown>[]>;
  environment(more?: { branch?: string; autoDeploy?: boolean; watchPaths?: string[] }): Promise<void>;
}

async function startPushScene(t: TestContext): Promise<PushScene> {
  const scene = await startGitScene(t, { service: await instance() });
  const { service, person } = scene;
  const me = await service.call('GET', '/auth/me', { token: person.token });
  const taken: Commit[] = [];
  takenIn.set(Object(me.body.workspaces)[0].id, taken);
  await scene.repository('shop', expressApp);
  const providerId = await scene.connect();
  const project = await newProject(service, person.token, {
    name: 'Shop',
    repository: { providerId, fullName: 'ada/shop' },
  });
  await analysed(service, person.token, project.id);
  const id = String(project.id);
  const address = { name: 'web', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const server = await service.call('POST', '/servers', { token: person.token, body: address });
  assert.equal(server.status, 201, server.text);
  return {
    ...scene,
    id,
    taken,
    deliveries: async () => {
      const { body } = await service.call('GET', `/projects/${id}/webhook-deliveries`, {
        token: person.token,
      });
      return Object(body.items);
    },
    environment: async ({ branch = 'main', autoDeploy = true, watchPaths = [] } = {}) => {
      const name = `e${newId()}`;
      await service.app.store.db.run(sql`
        insert into environments (workspace_id, id, project_id, server_id, name, slug, branch, auto_deploy,
          watch_paths, status, created_at, updated_at)
        select workspace_id, ${newId()}, id, ${String(server.body.id)}, ${name}, ${name}, ${branch}, ${autoDeploy},
          ${JSON.stringify(watchPaths)}::jsonb, 'idle', now(), now()
        from projects where id = ${id}`);
    },
  };
}

test('a push is told by the provider, signed, and deployed once, also when it is told again', async (t) => {
  const scene = await startPushScene(t);
  const { service, host, person, id, taken } = scene;
  await scene.environment();
  const hook = await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  assert.deepEqual([hook.status, hook.body.installed, hook.body.problem], [200, true, null], hook.text);
  const { sha } = await host.commit('ada', 'shop', {
    branch: 'main',
    message: 'Mend it',
    files: { 'a.txt': 'a' },
  });
  await host.idle();
  const [delivery] = await until(async () => {
    const all = (await scene.deliveries()).filter((each) => each.event === 'push');
    return all.length > 0 ? all : undefined;
  }, 'the delivery');
  assert.deepEqual(taken, [{ sha, branch: 'main' }]);
  assert.deepEqual([delivery?.outcome, delivery?.reason, delivery?.commitSha], ['deployed', 'deployed', sha]);
  const list = Object(await (await atHost(scene, '/repos/ada/shop/hooks')).json());
  const told = Object(await (await atHost(scene, `/repos/ada/shop/hooks/${list[0].id}/deliveries`)).json());
  const push = told.find((each: { event: string }) => each.event === 'push');
  await atHost(scene, `/repos/ada/shop/hooks/${list[0].id}/deliveries/${push.id}/attempts`, 'POST');
  await until(
    async () => (await scene.deliveries()).some(({ reason }) => reason === 'duplicate'),
    'the repetition',
  );
  assert.equal(taken.length, 1);
});

test('what is not signed with the secret of the hook changes nothing, and is on record', async (t) => {
  const scene = await startPushScene(t);
  const { service, person, id, taken } = scene;
  await scene.environment();
  const hook = await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  const body = JSON.stringify({ ref: 'refs/heads/main' });
  const signed = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const wrong: Record<string, string>[] = [
    {},
    { 'x-hub-signature-256': '' },
    { 'x-hub-signature-256': signed('') },
    { 'x-hub-signature-256': signed('guess') },
    { 'x-hub-signature-256': signed(String(hook.body.secret)).slice(0, -1) },
    { 'x-gitlab-token': String(hook.body.secret) },
  ];
  for (const headers of wrong) {
    const answer = await fetch(String(hook.body.address), {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-github-event': 'push', ...headers },
    });
    assert.equal(answer.status, 401, JSON.stringify(headers));
    assert.equal(Object(await answer.json()).code, 'signature_invalid');
  }
  const deliveries = await scene.deliveries();
  assert.equal(deliveries.filter(({ reason }) => reason === 'signature_invalid').length, wrong.length);
  assert.deepEqual(taken, []);
  const elsewhere = String(hook.body.address).replace('/github/', '/gitlab/');
  assert.equal((await fetch(elsewhere, { method: 'POST', body })).status, 404, 'of another provider');
  const nowhere = String(hook.body.address).replace(/[^/]+$/, newId());
  assert.equal((await fetch(nowhere, { method: 'POST', body: 'x'.repeat(5_000_000) })).status, 404);
});

test('whoever kept a delivery cannot bring its old commit back with it', async (t) => {
  const scene = await startPushScene(t);
  const { service, host, person, id, taken } = scene;
  await scene.environment();
  const hook = await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  const repository = Object(await (await atHost(scene, '/repos/ada/shop')).json());
  const deliver = async (sha: string) => {
    const told = { id: repository.id, full_name: 'ada/shop' };
    const body = JSON.stringify({ ref: 'refs/heads/main', after: sha, repository: told, commits: [] });
    const answer = await fetch(String(hook.body.address), {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': newId(),
        'x-hub-signature-256': `sha256=${hex(String(hook.body.secret), body)}`,
      },
    });
    const { outcomes } = Object(await answer.json());
    return outcomes.map(({ reason }: { reason: string }) => reason);
  };
  const push = async (message: string) => {
    const { sha } = await host.commit('ada', 'shop', {
      branch: 'main',
      message,
      files: { 'a.txt': message },
    });
    await host.idle();
    await until(() => taken.some((each) => each.sha === sha), message);
    return sha;
  };
  const [first, second] = [await push('one'), await push('two')];
  assert.deepEqual(await deliver(first), ['outdated']);
  assert.equal(taken.at(-1)?.sha, second);
  // Not even where the list of what was delivered is flooded first, by who cannot sign.
  const pushed = (await scene.deliveries()).filter(({ reason }) => reason === 'deployed').length;
  for (let count = 0; count < 60; count += 1) {
    const answer = await fetch(String(hook.body.address), { method: 'POST', body: '{}' });
    assert.equal(answer.status, 401);
    await answer.body?.cancel();
  }
  const kept = await service.app.store.db.rows(sql`
    select outcome from webhook_deliveries where project_id = ${id}`);
  assert.ok(kept.filter(({ outcome }) => outcome === 'rejected').length <= 50);
  assert.equal(kept.filter(({ outcome }) => outcome === 'deployed').length, pushed);
  // What the branch is really at is deployed, also where that is an old commit: its owner went back to it.
  execFileSync('git', ['--git-dir', scene.bareOf('shop'), 'update-ref', 'refs/heads/main', first]);
  assert.deepEqual(await deliver(first), ['deployed']);
  assert.equal(taken.at(-1)?.sha, first);
  // Where the repository does not say, nothing is deployed on a delivery's word, and it is looked at soon.
  host.setFault({ pathPrefix: '/ada/shop.git', status: 500 });
  assert.deepEqual(await deliver(second), ['unconfirmed']);
  const due = await service.app.store.db.exists(sql`
    select 1 from environments where project_id = ${id} and poll_at <= ${service.clock.now()}`);
  assert.ok(due);
});

test('the hook of a project gets a new secret at the same address, and the old one no longer counts', async (t) => {
  const scene = await startPushScene(t);
  const { service, person, id } = scene;
  const post = () => service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  const [first, second] = [await post(), await post()];
  assert.equal(first.body.address, second.body.address);
  assert.notEqual(first.body.secret, second.body.secret);
  const read = await service.call('GET', `/projects/${id}/webhook`, { token: person.token });
  assert.ok(!read.text.includes(String(second.body.secret)), 'the secret is shown once');
  const list = Object(await (await atHost(scene, '/repos/ada/shop/hooks')).json());
  assert.equal(list.length, 1, 'and there is one hook at the provider');
  const body = JSON.stringify({ zen: 'x', hook_id: 1, repository: { id: 1, full_name: 'ada/shop' } });
  const ping = (secret: unknown) =>
    fetch(String(first.body.address), {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'ping',
        'x-hub-signature-256': `sha256=${createHmac('sha256', String(secret)).update(body).digest('hex')}`,
      },
    });
  assert.equal((await ping(first.body.secret)).status, 401);
  assert.equal((await ping(second.body.secret)).status, 202);
});

test('a token that may not make hooks leaves the address and the secret to paste in', async (t) => {
  const scene = await startPushScene(t);
  const { service, host, person, id } = scene;
  host.setFault({ pathPrefix: '/api/v3/repos/ada/shop/hooks', status: 403 });
  host.setFault({ pathPrefix: '/api/v3/repositories', status: 403 });
  const hook = await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  assert.equal(hook.status, 200, hook.text);
  assert.deepEqual([hook.body.installed, typeof hook.body.secret], [false, 'string'], hook.text);
  assert.ok(Object(hook.body.problem).message);
});

test('every kind of push has its reason on record', async (t) => {
  const scene = await startPushScene(t);
  const { service, host, person, id, taken } = scene;
  await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  const commit = (branch: string, message: string, path: string) =>
    host.commit('ada', 'shop', { branch, message, files: { [path]: message } });
  const lastReason = async (count: number) => {
    await host.idle();
    const rows = await until(async () => {
      const all = (await scene.deliveries()).filter((each) => each.event === 'push');
      return all.length >= count ? all : undefined;
    }, `delivery ${count}`);
    return rows[0]?.reason;
  };
  await commit('main', 'one', 'a.txt');
  assert.equal(await lastReason(1), 'no_environment');
  await scene.environment({ branch: 'main', autoDeploy: false });
  await commit('main', 'two', 'a.txt');
  assert.equal(await lastReason(2), 'environment_off');
  await scene.environment({ branch: 'live', watchPaths: ['src'] });
  await commit('other', 'three', 'a.txt');
  assert.equal(await lastReason(3), 'other_branch');
  // A new branch has all files of its base among what changed; the next commit is small.
  await commit('live', 'four', 'src/a.txt');
  await lastReason(4);
  taken.length = 0;
  await commit('live', 'five [skip ci]', 'src/b.txt');
  assert.equal(await lastReason(5), 'skip_requested');
  await commit('live', 'six', 'docs/a.txt');
  assert.equal(await lastReason(6), 'paths_not_watched');
  assert.deepEqual(taken, []);
  const { sha } = await commit('live', 'seven', 'src/c.txt');
  assert.equal(await lastReason(7), 'deployed');
  assert.deepEqual(taken, [{ sha, branch: 'live' }]);
});

test('where no webhook arrives, polling takes a push, and both together take it once', async (t) => {
  const scene = await startPushScene(t);
  const { service, host, person, id, taken } = scene;
  await scene.environment();
  const poll = async () => {
    await service.app.store.db.run(
      sql`update environments set poll_at = now() - interval '1 day' where project_id = ${id}`,
    );
    await pollDueProjects(service.app.contexts.pushes, 300);
  };
  const first = await host.commit('ada', 'shop', { branch: 'main', message: 'one', files: { 'a.txt': 'a' } });
  await poll();
  assert.deepEqual(taken, [{ sha: first.sha, branch: 'main' }]);
  await poll();
  assert.equal(taken.length, 1, 'what was decided on is not decided again');
  await service.call('POST', `/projects/${id}/webhook`, { token: person.token });
  const second = await host.commit('ada', 'shop', {
    branch: 'main',
    message: 'two',
    files: { 'a.txt': 'b' },
  });
  await host.idle();
  await until(async () => taken.length === 2, 'the webhook');
  await poll();
  assert.deepEqual(taken.at(-1), { sha: second.sha, branch: 'main' });
  assert.equal(taken.length, 2);
  const vias = (await scene.deliveries())
    .filter(({ outcome }) => outcome === 'deployed')
    .map(({ via }) => via);
  assert.deepEqual(vias, ['webhook', 'poll']);
});

test('the other providers’ deliveries are understood over the same address', async (t) => {
  const scene = await startPushScene(t);
  const { service, person } = scene;
  const open = await scene.repository('open', { 'index.html': 'x' }, false);
  const project = await newProject(service, person.token, {
    name: 'Open',
    repository: { url: open.cloneUrl },
  });
  const hook = await service.call('POST', `/projects/${project.id}/webhook`, { token: person.token });
  assert.equal(hook.body.installed, false, 'nobody but its owner can make one');
  const secret = String(hook.body.secret);
  const sign: Record<string, (body: string) => Record<string, string>> = {
    gitlab: () => ({ 'x-gitlab-token': secret }),
    gitea: (body) => ({ 'x-gitea-signature': hex(secret, body) }),
    bitbucket: (body) => ({ 'x-hub-signature': `sha256=${hex(secret, body)}` }),
  };
  for (const [kind, signatureOf] of Object.entries(sign)) {
    const recorded = new URL(
      `../src/adapters/git-hosts/webhooks/fixtures/${kind}-push.json`,
      import.meta.url,
    );
    const { headers, body: payload } = JSON.parse(readFileSync(recorded, 'utf8'));
    const body = JSON.stringify(payload);
    const answer = await fetch(String(hook.body.address).replace('/github/', `/${kind}/`), {
      method: 'POST',
      body,
      headers: { ...headers, 'content-type': 'application/json', ...signatureOf(body) },
    });
    const text = await answer.text();
    assert.equal(answer.status, 202, `${kind}: ${text}`);
    assert.equal(JSON.parse(text).outcomes[0].reason, 'no_environment', `${kind}: ${text}`);
  }
});

function hex(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

function atHost({ host, gitToken }: GitScene, path: string, method = 'GET'): Promise<Response> {
  return fetch(`${host.apiUrl}${path}`, { method, headers: { authorization: `Bearer ${gitToken}` } });
}
