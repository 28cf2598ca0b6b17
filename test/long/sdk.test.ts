/** From signing in to a live app, a failure, an earlier release, its database and back to its data, by the SDK alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { listenTo, openerOf } from '../../cli/tunnel.ts';
import { ClientSession, createClient, type Operations, ProblemError } from '../../sdk/index.ts';
import { memoryStore } from '../sdk/support.ts';
import { startDeployScene } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { site as files, greeting as page } from '../support/site.ts';

const lab = await openLab();

/** Followed to its end, as a program does. */
async function ended(client: Operations, id: string, did: string) {
  const lines: string[] = [];
  for await (const event of client.followDeployment({ id, did }))
    if (event.kind === 'log') lines.push(event.line);
  return { ...(await client.getDeployment({ id, did })), lines };
}

async function finished(client: Operations, id: string): Promise<void> {
  for await (const _event of client.followOperation({ id }));
  const { status, fault } = await client.getOperation({ id });
  assert.equal(status, 'succeeded', JSON.stringify(fault));
}

test('sign in, deploy, read why it failed, roll back, reach the database, back it up and restore it', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { service, person, host, gitToken } = scene.git;
  await scene.git.repository('site', files);
  const change = (message: string, changed: Record<string, string>) =>
    host.commit('ada', 'site', { branch: 'main', message, files: { ...files, ...changed } });

  const auth = new ClientSession(memoryStore(undefined));
  const client = createClient({ url: service.url, auth });
  const { email, password } = person;
  const signedIn = await client.login({ body: { email, password, refreshTokenIn: 'body' } });
  assert.ok('accessToken' in signedIn);
  await auth.accept(signedIn);

  const provider = await client.saveGitToken({
    body: { provider: 'github', token: gitToken, baseUrl: host.url },
  });
  const repository = { providerId: provider.id, fullName: 'ada/site' };
  const project = await client.createProject({ body: { name: 'site', repository } });
  const found: string[] = [];
  for await (const event of client.followAnalysis({ id: project.id }))
    if (event.kind === 'finding') found.push(event.text);
  assert.ok(found.length > 0);
  const made = await client.finalizeProject({
    id: project.id,
    body: { environment: { name: 'production', serverId: scene.serverId }, deploy: true },
  });
  const { id } = made.environment;
  assert.ok(made.deployment);
  const first = await ended(client, id, made.deployment.id);
  assert.equal(first.status, 'succeeded', JSON.stringify(first.fault));
  assert.equal(await scene.page(id), 'one');

  await change('Break the build', { 'build.js': "console.error('no such flavour'); process.exit(3);\n" });
  const failed = await ended(client, id, (await client.deploy({ id })).id);
  assert.deepEqual([failed.status, failed.fault?.step], ['failed', 'build']);
  assert.ok(failed.fault?.hint, 'what helps is said');
  assert.ok(failed.lines.some((line) => line.includes('no such flavour')));
  assert.equal(await scene.page(id), 'one', 'the old release was never touched');

  await change('Say two', { 'server.js': page('two') });
  assert.equal((await ended(client, id, (await client.deploy({ id })).id)).status, 'succeeded');
  assert.equal(await scene.page(id), 'two');
  const back = await client.rollBackDeployment({ id, did: made.deployment.id });
  assert.equal((await ended(client, id, back.id)).status, 'succeeded');
  assert.equal(await scene.page(id), 'one');

  const set = await client.setServices({ id, body: { services: [{ kind: 'postgres' }] } });
  assert.ok(set.operationId);
  await finished(client, set.operationId);
  const [database] = set.services;
  assert.ok(database);
  const { url } = await client.getServiceCredentials({ id, sid: database.id });
  const open = openerOf({ url: service.url, auth }, `environments/${id}/services/${database.id}/tunnel`);
  const tunnel = await listenTo(open, 0, (error) => assert.fail(String(error)));
  t.after(() => tunnel.close());
  const here = Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(tunnel.port) });
  const query = async (statement: string): Promise<unknown[]> => {
    const through = new pg.Client({ connectionString: here.href });
    await through.connect();
    const { rows } = await through.query(statement);
    await through.end();
    return rows;
  };
  await query("create table people as select 'ada' as name");

  const asked = await client.triggerBackup({ id });
  assert.ok(asked.operationId);
  await finished(client, asked.operationId);
  const backup = await client.getBackup({ id, bid: asked.id });
  assert.ok(backup.verifiedAt, 'it counts once it was restored and compared');
  await query('delete from people');
  await finished(client, (await client.restoreBackup({ id, bid: backup.id })).id);
  assert.deepEqual(await query('select name from people'), [{ name: 'ada' }]);

  const refused = await client.getBackup({ id, bid: id }).catch((error: unknown) => error);
  assert.ok(refused instanceof ProblemError && refused.code === 'not_found');
});
