/** `npm run demo`, as a person runs it: what it prints is there and works, and `down` leaves nothing. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attempt, run } from '../../lab/command.ts';
import { readLab } from '../../lab/description.ts';
import { placementsOf } from '../../lab/places.ts';
import { root } from '../../scripts/commands.ts';
import { callApi } from '../support/app.ts';
import { cleanEnv } from '../support/service.ts';
import { hangMs, until } from '../support/until.ts';

const name = `t${process.pid}`;
const lab = `demo-${name}`;
const folder = `/var/lib/slipway-${lab}`;

function demo(...args: string[]) {
  const given = ['run', '--silent', 'demo', '--', ...args, '--name', name];
  return attempt('npm', given, { cwd: root, env: cleanEnv({}), timeoutMs: 2 * hangMs });
}

/** What stands behind a word at the beginning of a line. */
function told(printed: string, what: string): string {
  const line = printed.split('\n').find((each) => each.trim().startsWith(what));
  assert.ok(line, `nothing is said of «${what}»:\n${printed}`);
  return line.trim().slice(what.length).trim();
}

/** Everything on this machine that belongs to that lab or its demo, whatever else runs here. */
async function traces(cidr: string): Promise<string[]> {
  const prefix = cidr.replace(/\.0\/\d+$/, '.');
  const about = (text: string) => text.includes(lab) || text.includes(prefix);
  const lines = async (...args: string[]) => (await run('ip', args)).split('\n').filter(about);
  const processes = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .filter((pid) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8');
        return !/\) [ZX] /.test(read('stat')) && about(read('cmdline') + read('cgroup'));
      } catch {
        return false; // it has ended meanwhile
      }
    });
  return [
    ...(await lines('-brief', 'address')),
    ...(await lines('route', 'show', 'table', 'all')),
    ...readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(about),
    ...processes.map((pid) => `process ${pid}`),
    ...globSync(`/sys/fs/cgroup/{*,*/*}/slipway-lab-${lab}`),
    ...[folder, placementsOf(lab).dir].filter((each) => existsSync(each)),
  ];
}

test('the demo brings a page behind TLS, its database and a proven backup, and leaves nothing', async (t) => {
  t.after(() => demo('down'));
  const up = await demo();
  assert.equal(up.code, 0, `${up.stdout}${up.stderr}`);
  const about = readLab(lab);
  assert.ok(about);
  assert.notDeepEqual(await traces(about.cidr), []);

  const curl = told(up.stdout, 'from here');
  const url = told(up.stdout, 'Your application');
  assert.match(url, /^https:\/\/notes\./);

  await t.test(
    'its page answers over https with the command that was printed, and its database keeps',
    async () => {
      const shell = (command: string) => run('bash', ['-euo', 'pipefail', '-c', command]);
      assert.deepEqual(JSON.parse(await shell(`${curl} --silent --fail`)), []);
      const note = `--silent --fail --json '{"text":"kept"}'`;
      assert.equal(JSON.parse(await shell(`${curl} ${note}`)).text, 'kept');
      assert.equal(JSON.parse(await shell(`${curl} --silent --fail`))[0].text, 'kept');
      const others = attempt('bash', ['-c', curl.replace(/--cacert \S+/, '--silent')]);
      assert.notEqual((await others).code, 0, 'the certificate is one of the lab’s authority');
      const plain = await fetch(told(up.stdout, 'its own port'));
      assert.match(await plain.text(), /^express-postgres/);
    },
  );

  await t.test('Slipway answers where it says, and its account signs in', async () => {
    assert.equal((await fetch(told(up.stdout, 'its documents'))).status, 200);
    const api = told(up.stdout, "Slipway's API").replace(/\/api\/v1$/, '');
    const [email = '', password = ''] = told(up.stdout, 'sign in as').split(', ');
    const { body } = await callApi(api, 'POST', '/auth/login', { body: { email, password } });
    const token = String(Object(body).accessToken);
    const { items } = Object((await callApi(api, 'GET', '/environments', { token })).body);
    assert.equal(items.length, 1);
    const path = `/environments/${items[0].id}/backups`;
    const [backup] = Object((await callApi(api, 'GET', path, { token })).body).items;
    assert.equal(backup.status, 'succeeded');
    assert.ok(backup.verifiedAt, 'the backup was tried');
    assert.equal(told(up.stdout, 'The backup'), `${backup.sizeBytes} bytes, verified ${backup.verifiedAt}`);
  });

  await t.test('the printed way into the server works', async () => {
    const command = told(up.stdout, 'The server').replace(/^npm run /, 'npm run --silent ');
    assert.match(await run('bash', ['-c', `${command} hostname`], { cwd: root }), /^s1\n/);
  });

  await t.test('a second one of the same name is refused, with the way out', async () => {
    const again = await demo();
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      new RegExp(`There is a demo already. \`npm run demo -- down --name ${name}\``),
    );
  });

  await t.test('`down` leaves no process, link, route, mount, control group or folder', async () => {
    const down = await demo('down');
    assert.deepEqual([down.code, down.stdout], [0, 'The demo is gone.\n'], down.stderr);
    await until(async () => (await traces(about.cidr)).length === 0, 'the last traces').catch(
      () => undefined,
    );
    assert.deepEqual(await traces(about.cidr), []);
    assert.equal((await demo('down')).stdout, 'There was no demo.\n');
  });
});
