/** Slipway itself, as it is run in production: in the container that `packaging/` defines, and under its systemd unit. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { builtWhereReachable } from '../support/built-where-reachable.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { hangMs } from '../support/until.ts';

const lab = await openLab();

/** What a clone has. */
async function sendClone(server: TestServer): Promise<void> {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(listed.status, 0, listed.stderr);
  const folder = temporaryFolder('clone');
  try {
    for (const name of listed.stdout.split('\0').filter((each) => each !== '')) {
      if (/^(test|lab|bench)\//.test(name)) continue;
      mkdirSync(join(folder, 'slipway', dirname(name)), { recursive: true });
      cpSync(join(root, name), join(folder, 'slipway', name));
    }
    await server.copy(join(folder, 'slipway'), 'slipway');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const build = 'cd slipway && docker build --progress plain --file packaging/Dockerfile --tag slipway . 2>&1';

/** Shell words that wait until a command succeeds. */
const waitFor = (command: string) =>
  `for try in $(seq ${hangMs / 500}); do ${command} && exit 0; sleep 0.5; done; exit 1`;
const answers = waitFor('curl --silent --fail http://127.0.0.1:4400/healthz');

test('the image is built from a clone, serves as an ordinary user, keeps its data, and stops in good order', async (t) => {
  const server = await lab.fresh(t, 'docker');
  await sendClone(server);
  await builtWhereReachable(async () => {
    const { code, stdout } = await server.trySsh(build);
    if (code !== 0) throw new Error(stdout.slice(-6_000));
  });
  const start =
    'docker run --detach --name slipway --publish 127.0.0.1:4400:4400 --volume slipway:/data slipway';
  await server.ssh(start);
  await server.ssh(answers);
  assert.match(await server.ssh('docker exec slipway id'), /^uid=10001\(slipway\)/);
  const register = `curl --silent --fail --json '{"email":"ada@example.com","password":"a long enough password"}' http://127.0.0.1:4400/api/v1/auth/register`;
  assert.match(await server.ssh(register), /otpRequired/);
  await server.ssh('docker stop --time 60 slipway');
  assert.match(await server.ssh("docker inspect --format '{{.State.ExitCode}}' slipway"), /^0$/m);
  const key = await server.ssh('docker run --rm --volume slipway:/data slipway cat /data/master.key');
  await server.ssh('docker rm slipway');
  await server.ssh(start);
  await server.ssh(answers);
  assert.equal(await server.ssh('docker exec slipway cat /data/master.key'), key, 'the same key');
  await server.ssh(waitFor('[ "$(docker inspect --format "{{.State.Health.Status}}" slipway)" = healthy ]'));

  await t.test('under systemd, shut in, with the Node that it brings', async () => {
    await server.ssh(
      'docker cp slipway:/opt/slipway /opt/ && chown -R root:root /opt/slipway && docker rm -f slipway',
    );
    await server.ssh(
      'useradd --system --home-dir /var/lib/slipway-service --shell /usr/sbin/nologin slipway',
    );
    await server.ssh('install -m 0644 slipway/packaging/slipway.service /etc/systemd/system/');
    assert.equal(await server.ssh('systemd-analyze verify slipway.service 2>&1'), '');
    await server.ssh('systemctl daemon-reload && systemctl enable --now slipway');
    await server.ssh(answers);
    assert.match(await server.ssh(register), /otpRequired/);
    const exposure = await server.ssh('systemd-analyze security slipway.service --no-pager | tail -1');
    assert.match(exposure, /level for slipway\.service: [01]\.\d OK/);
    await server.ssh('systemctl kill --signal=KILL slipway');
    await server.ssh(waitFor('systemctl show slipway --property=NRestarts | grep --quiet "=1$"'));
    await server.ssh(answers);
    await server.ssh('systemctl stop slipway');
    assert.match(await server.ssh('systemctl show slipway --property=Result'), /Result=success/);
    assert.equal((await server.trySsh('pgrep --full /opt/slipway')).code, 1, 'nothing of it goes on');
  });
});
