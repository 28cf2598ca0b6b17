/** From nothing to a live app, back to an earlier release, into its database and back to its data, at the prompt. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { Desk } from '../cli/support.ts';
import { type DeployScene, startDeployScene } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { site as files, greeting as page } from '../support/site.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('login, init, deploy, a failure that is explained, rollback and logs', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { service, person, host } = scene.git;
  const { cloneUrl } = await scene.git.repository('site', files);
  const change = (message: string, changed: Record<string, string>) =>
    host.commit('ada', 'site', { branch: 'main', message, files: { ...files, ...changed } });
  const desk = new Desk(t);
  const folder = join(desk.folder, 'site');
  mkdirSync(folder);
  execFileSync('git', ['-C', folder, 'init', '--quiet', '--initial-branch', 'main']);
  execFileSync('git', ['-C', folder, 'remote', 'add', 'origin', cloneUrl]);
  const here = { cwd: folder };

  const login = desk.watch(t, ['login', service.url, '--email', person.email, '--name', 'lab']);
  await login.sees('Password:');
  login.type(`${person.password}\r`);
  assert.equal(await login.ended, 0, login.screen);
  assert.equal(login.screen, `Password:\nSigned in to lab as ${person.email}.`);

  const init = desk.watch(t, ['init'], here);
  await init.sees('Name of the project (site):');
  init.type('\r');
  assert.equal(await init.ended, 0, init.screen);
  assert.match(init.screen, /^Linked to site production; .*\nDeploy it: slipway deploy$/m);
  const { environmentId } = JSON.parse(readFileSync(join(folder, '.slipway.json'), 'utf8'));

  const first = desk.watch(t, ['deploy'], here);
  assert.equal(await first.ended, 0, first.screen);
  const steps = [...first.screen.matchAll(/^✓ (\S+)/gm)].map(([, step]) => step);
  assert.deepEqual([steps[0], steps.includes('build'), steps.includes('switch')], ['fetch', true, true]);
  const url = await scene.url(environmentId);
  assert.match(first.screen, new RegExp(`^Live: #1 .*\\n${url}$`, 'm'));
  assert.equal(await scene.page(environmentId), 'one');

  await change('Break the build', { 'build.js': "console.error('no such flavour'); process.exit(3);\n" });
  const failing = desk.watch(t, ['deploy'], here);
  assert.equal(await failing.ended, 5, failing.screen);
  assert.match(failing.screen, /^✗ build/m);
  assert.match(failing.screen, /no such flavour/);
  assert.match(failing.screen, /^Failed at build: /m);
  assert.equal(await scene.page(environmentId), 'one', 'the old release was never touched');

  await change('Say two', { 'server.js': page('two') });
  const plain = await desk.run(['deploy', '--json'], here);
  assert.equal(plain.code, 0, plain.out + plain.err);
  assert.deepEqual([JSON.parse(plain.out).status, JSON.parse(plain.out).url], ['succeeded', url]);
  assert.equal(await scene.page(environmentId), 'two');
  const logs = await desk.run(['logs', '--tail', '10'], here);
  assert.match(logs.out, /web\.\d+ ready: two\n/);

  const back = desk.watch(t, ['rollback'], here);
  assert.equal(await back.ended, 0, back.screen);
  assert.match(back.screen, /^Putting #1 back: /m);
  assert.equal(await scene.page(environmentId), 'one');
  assert.match((await desk.run(['status'], here)).out, /^site production {2}running\n/);

  await databaseStory(t, desk, here, scene, environmentId);
});

/** Data is written by the database's own program, backed up, lost, and restored. */
async function databaseStory(
  t: TestContext,
  desk: Desk,
  here: { readonly cwd: string },
  scene: DeployScene,
  environmentId: string,
): Promise<void> {
  const wish = ['--services', '[{"kind":"postgres"}]'];
  const set = await desk.run(['api', 'setServices', '--id', environmentId, ...wish], here);
  assert.equal(set.code, 0, set.out + set.err);
  const { operationId } = JSON.parse(set.out);
  await until(
    async () => (await scene.call('GET', `/operations/${operationId}`)).finishedAt !== null,
    'the database to run',
  );
  const psql = async (statement: string): Promise<string> => {
    const screen = desk.watch(t, ['connect', '--', '-At', '-c', statement], here);
    assert.equal(await screen.ended, 0, screen.screen);
    return screen.screen;
  };
  assert.equal(await psql('create table people (name text)'), 'CREATE TABLE');
  assert.equal(await psql('insert into people values ($$ada$$)'), 'INSERT 0 1');

  const making = desk.watch(t, ['backups', 'make'], here);
  assert.equal(await making.ended, 0, making.screen);
  const [, backup = ''] =
    /^Backup ([0-9a-f-]{36}) is made, restored and checked\.$/m.exec(making.screen) ?? [];
  assert.ok(backup, making.screen);
  const listed = desk.watch(t, ['backups'], here);
  assert.equal(await listed.ended, 0);
  assert.match(listed.screen, new RegExp(`^${backup} +succeeded +manual .* MB +yes$`, 'm'));
  const download = await desk.run(['backups', 'download', backup, 'people.dump'], here);
  assert.equal(download.out, 'Wrote people.dump.\n', download.err);
  assert.ok(statSync(join(here.cwd, 'people.dump')).size > 100);

  assert.equal(await psql('delete from people'), 'DELETE 1');
  const restoring = desk.watch(t, ['backups', 'restore', backup], here);
  await restoring.sees(/The data of production becomes that of the backup of \S+ \S+ UTC\. Go on\? \[y\/N\]/);
  restoring.type('y\r');
  assert.equal(await restoring.ended, 0, restoring.screen);
  assert.match(restoring.screen, /^The data of production is that of the backup\.$/m);
  assert.equal(await psql('select name from people'), 'ada');

  // For another program: the address stays until it is interrupted.
  const tunnel = desk.watch(t, ['connect', '--tunnel'], here);
  await tunnel.sees('It leads there until this ends: Ctrl-C.');
  const [connectionString = ''] = tunnel.screen.split('\n');
  const client = new pg.Client({ connectionString });
  await client.connect();
  assert.deepEqual((await client.query('select name from people')).rows, [{ name: 'ada' }]);
  await client.end();
  tunnel.type('\x03');
  assert.equal(await tunnel.ended, 0, tunnel.screen);
  const { items } = await scene.call('GET', '/audit?action=openServiceTunnel');
  assert.equal(Object(items).length, 6, 'each way to the data is written down');
}
