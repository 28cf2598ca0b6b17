import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { startGitHost } from '../lab/services/git/git-host.ts';
import { callApi } from './support/app.ts';
import { enoughScopes } from './support/git.ts';
import { Mailbox } from './support/mailbox.ts';
import { temporaryFolder } from './support/postgres.ts';
import { endEverything, type Service, startService } from './support/service.ts';
import { openStream } from './support/sse.ts';
import { until } from './support/until.ts';

test('a service that is killed in the middle of an analysis ends it after the restart, and its stream goes on', async (t) => {
  const [dataDir, gitDir] = [temporaryFolder('kill'), temporaryFolder('git-host')];
  const host = await startGitHost({ address: '127.0.0.1', port: 0, dir: gitDir });
  let service: Service | undefined;
  t.after(async () => {
    await endEverything(service, dataDir);
    await host.close();
    for (const folder of [dataDir, gitDir]) rmSync(folder, { recursive: true, force: true });
  });
  const start = async () => {
    service = startService({ SLIPWAY_DATA_DIR: dataDir, SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on' });
    return service.url();
  };
  const from = new URL('../lab/apps/express-postgres', import.meta.url).pathname;
  host.createAccount({ login: 'ada', kind: 'user' });
  await host.createRepository({ owner: 'ada', name: 'shop', private: true, from });
  const { token: gitToken } = host.createToken({ login: 'ada', scopes: enoughScopes });

  let url = await start();
  const person = { email: 'ada@example.com', password: 'a long enough password' };
  await callApi(url, 'POST', '/auth/register', { body: person });
  const code = await new Mailbox(`${dataDir}/outbox`).code(person.email);
  const { body: session } = await callApi(url, 'POST', '/auth/verify-otp', {
    body: { email: person.email, code },
  });
  const token = String(session.accessToken);
  const saved = await callApi(url, 'POST', '/git-provider/save-token', {
    token,
    body: { provider: 'github', token: gitToken, baseUrl: host.url },
  });
  assert.equal(saved.status, 201, saved.text);

  // Its answer would take half a minute: time enough to be killed in.
  host.setFault({ pathPrefix: '/ada/shop', status: null, delayMs: 30_000 });
  const repository = { providerId: saved.body.id, fullName: 'ada/shop' };
  const made = await callApi(url, 'POST', '/projects', { token, body: { name: 'Shop', repository } });
  assert.equal(made.status, 201, made.text);
  const path = `/api/v1/projects/${made.body.id}/analysis-status`;
  const before = await openStream(`${url}${path}`, { token });
  let last = 0;
  for await (const { id, data } of before.events()) {
    last = id;
    if (data.status === 'fetching') break;
  }
  before.close();
  await service?.kill('SIGKILL');
  host.setFault({ pathPrefix: '/ada/shop', status: null });

  url = await start();
  const afterwards = await openStream(`${url}${path}`, { token, lastEventId: last });
  const seen: { id: number; event: string; status: unknown }[] = [];
  for await (const { id, event, data } of afterwards.events()) seen.push({ id, event, status: data.status });
  assert.deepEqual(
    seen.map(({ id }) => id),
    seen.map((_, index) => last + 1 + index),
    'no gap and no repeat',
  );
  assert.deepEqual([seen.at(-1)?.event, seen.at(-1)?.status], ['end', 'succeeded']);
  const project = await until(
    async () => (await callApi(url, 'GET', `/projects/${made.body.id}`, { token })).body,
    'the project',
  );
  assert.deepEqual([project.status, Object(project.analysis).status], ['ready', 'succeeded']);
});
