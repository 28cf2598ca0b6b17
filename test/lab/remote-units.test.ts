import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { Fault, type FaultCode } from '../../src/fault.ts';
import { newId, type ServerId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { fingerprintOf } from '../../src/remote/host-keys.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Remote, RemoteTarget, UnitState } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { until } from '../support/service.ts';

const lab = await openLab();
const failsWith = (code: FaultCode) => (error: unknown) => error instanceof Fault && error.code === code;

function targetOf({ about }: TestServer): RemoteTarget {
  const shown = about.hostKeys.find((each) => each.startsWith('ssh-ed25519 ')) ?? '';
  return {
    serverId: newId<ServerId>(),
    host: about.address,
    port: about.port,
    username: about.user,
    privateKey: new Secret(readFileSync(about.keyFile ?? '', 'utf8')),
    hostKey: fingerprintOf(Buffer.from(shown.split(' ')[1] ?? '', 'base64')),
  };
}

function connect(t: TestContext, server: TestServer): Remote {
  const pool = createRemotePool(createLog('silent'));
  t.after(() => pool.close());
  return pool.to(targetOf(server));
}

/** Everything it prints from there on, until it ends. */
async function follow(
  remote: Remote,
  name: string,
  from = 0,
): Promise<{ printed: string; state: UnitState }> {
  const parts: Buffer[] = [];
  for (let next = from; ; ) {
    const read = await remote.readUnit(name, next, 5_000);
    parts.push(read.bytes);
    next = read.next;
    if (read.state.kind !== 'running') return { printed: Buffer.concat(parts).toString(), state: read.state };
  }
}

const sh = (script: string, ...args: string[]) => ['sh', '-c', script, 'sh', ...args];

for (const variant of ['bare', 'bookworm'] as const) {
  test(`on ${variant}, work outlives its connection, and who comes back reads on and learns its end`, async (t) => {
    const server = await lab.fresh(t, variant);
    const pool = createRemotePool(createLog('silent'));
    t.after(() => pool.close());
    const target = targetOf(server);
    const name = 'slipway-long';
    const script =
      'cat; echo begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo "$1" >&2; echo end; exit 7';
    const hostile = "$HOME $\u007bPATH} %n %% ' \\ é\n$(id)";
    await pool.to(target).startUnit({ name, argv: sh(script, hostile), input: Buffer.from('given\n') });
    const first = await until(
      async () => {
        const read = await pool.to(target).readUnit(name, 0, 5_000);
        return read.next >= 12 ? read : undefined;
      },
      10_000,
      'its first lines',
    );
    assert.equal(first.bytes.toString(), 'given\nbegun\n');
    assert.deepEqual(first.state, { kind: 'running' });
    pool.drop(target.serverId);

    const remote = pool.to(target);
    assert.match(
      (await remote.output(['ls', `/var/lib/slipway/units/${name}`])).toString(),
      /^began\ncommand\noutput\n/,
    );
    await remote.run(['touch', '/tmp/go']);
    const rest = await follow(remote, name, first.next);
    assert.deepEqual(rest, { printed: `${hostile}\nend\n`, state: { kind: 'ended', code: 7 } });
    assert.equal((await follow(remote, name, 6)).printed, `begun\n${hostile}\nend\n`);
    await remote.stopUnit(name);
    assert.deepEqual((await remote.readUnit(name, 0)).state, { kind: 'absent' });
  });
}

test('a unit that is started twice, or by sixteen at once, runs once; one that has ended does not run again', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const other = connect(t, server);
  const wish = {
    name: 'slipway-once',
    argv: sh('echo ran >>/tmp/ran; cat; exit 3'),
    input: Buffer.from('x'),
  };
  await Promise.all(Array.from({ length: 16 }, (_, index) => (index % 2 ? remote : other).startUnit(wish)));
  const { printed, state } = await follow(remote, wish.name);
  assert.deepEqual([printed, state], ['x', { kind: 'ended', code: 3 }]);
  await remote.startUnit(wish);
  assert.equal(String(await remote.readFile('/tmp/ran')), 'ran\n');
  assert.equal(
    (await remote.output(['sh', '-c', 'ls -A /var/lib/slipway/units'])).toString(),
    'slipway-once\n',
  );
});

test('a start that died half-way is taken up again; one that ran and vanished is told as lost, not repeated', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  // As a caller leaves it that is killed between the folder and the unit.
  await remote.run(['mkdir', '-p', '/var/lib/slipway/units/slipway-half']);
  assert.deepEqual((await remote.readUnit('slipway-half', 0)).state, { kind: 'absent' });
  await remote.startUnit({ name: 'slipway-half', argv: ['echo', 'whole'] });
  assert.deepEqual(await follow(remote, 'slipway-half'), {
    printed: 'whole\n',
    state: { kind: 'ended', code: 0 },
  });

  const wish = { name: 'slipway-lost', argv: sh('echo ran; sleep 600') };
  await remote.startUnit(wish);
  await until(async () => (await remote.readUnit(wish.name, 0)).next === 4, 10_000, 'it to run');
  await lab.client.console(server.about.name, 'systemctl', 'kill', '--signal=KILL', 'slipway-lost.service');
  const lost = { kind: 'ended', code: 255, lost: true };
  assert.deepEqual(await follow(remote, wish.name), { printed: 'ran\n', state: lost });
  await remote.startUnit(wish);
  assert.deepEqual((await remote.readUnit(wish.name, 4)).state, lost);
});

test('stopping ends every child, also one that ignores being asked, and is confirmed', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const argv = sh('trap "" TERM; setsid sleep 1005 & sleep 1006 & echo up; while :; do sleep 1007; done');
  await remote.startUnit({ name: 'slipway-stubborn', argv, input: Buffer.from('secret') });
  await until(async () => (await remote.readUnit('slipway-stubborn', 0)).next > 0, 10_000, 'it to run');
  assert.equal((await remote.run(['grep', '-r', 'secret', '/var/lib/slipway'])).code, 1);
  await remote.stopUnit('slipway-stubborn');
  assert.equal((await remote.run(['pgrep', '-x', 'sleep'])).code, 1);
  assert.deepEqual((await remote.readUnit('slipway-stubborn', 0)).state, { kind: 'absent' });
  await remote.stopUnit('slipway-stubborn');
});

test('much output is read whole, in parts, and its end comes with the last of them', async (t) => {
  const remote = connect(t, await lab.fresh(t, 'bare'));
  await remote.startUnit({ name: 'slipway-much', argv: ['head', '-c', '5000000', '/dev/zero'] });
  const { printed, state } = await follow(remote, 'slipway-much');
  assert.deepEqual([printed.length, state], [5_000_000, { kind: 'ended', code: 0 }]);
});

test('a lower epoch than the highest one seen can do nothing, also where many claim at once', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const claims = await Promise.allSettled([5, 3, 9, 1, 7].map((epoch) => remote.fence('server-a', epoch)));
  assert.equal(claims[2]?.status, 'fulfilled');
  await assert.rejects(remote.fence('server-a', 8), failsWith('remote_fenced'));
  await remote.fence('server-a', 9);
  await remote.fence('server-b', 1);
  const stale = {
    name: 'slipway-stale',
    argv: ['touch', '/tmp/stale'],
    fence: { scope: 'server-a', epoch: 8 },
  };
  await assert.rejects(remote.startUnit(stale), failsWith('remote_fenced'));
  assert.deepEqual((await remote.readUnit('slipway-stale', 0)).state, { kind: 'absent' });
  await remote.startUnit({ ...stale, fence: { scope: 'server-a', epoch: 10 } });
  await assert.rejects(remote.fence('server-a', 9), failsWith('remote_fenced'));
});

test('a file is there whole with its mode and owner, or as it was before', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const path = "/etc/sl ip'way";
  await remote.writeFile(path, 'old', { mode: 0o640, owner: 'nobody', group: 'adm' });
  assert.equal((await remote.output(['stat', '-c', '%a %U %G', path])).toString(), '640 nobody adm\n');
  await assert.rejects(
    remote.writeFile(path, 'x', { mode: 0o600, owner: 'no-such-user' }),
    failsWith('remote_failed'),
  );
  await assert.rejects(
    remote.writeFile('/no/such/folder/x', 'x', { mode: 0o600 }),
    failsWith('remote_failed'),
  );
  await assert.rejects(remote.writeFile('/etc', 'x', { mode: 0o600 }), failsWith('remote_failed'));
  assert.equal(String(await remote.readFile(path)), 'old');
  assert.equal(await remote.readFile('/no/such/file'), undefined);
  await assert.rejects(remote.readFile(path, { maxBytes: 2 }), failsWith('remote_failed'));

  const cut = connect(t, server);
  const writing = assert.rejects(cut.writeFile(path, Buffer.alloc(60_000_000, 'n'), { mode: 0o600 }));
  const half = () => lab.client.console(server.about.name, 'sh', '-c', 'stat -c %s /etc/.slipway-*');
  await until(async () => Number((await half()).stdout) > 1_000_000, 10_000, 'some of it to arrive');
  const newest = ['pkill', '-n', '-f', 'sshd-session: root@notty'];
  await lab.client.console(server.about.name, ...newest);
  await writing;
  assert.equal(String(await remote.readFile(path)), 'old');
  await until(async () => (await half()).code !== 0, 10_000, 'the half-written file to be gone');
});
