import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runDetached } from '../../src/areas/servers/hardening/detached.ts';
import type { Remote, UnitState } from '../../src/remote/remote.ts';
import { mostUnitBytes } from '../../src/remote/units/bounded-output.ts';
import { followUnit } from '../../src/remote/units/follow-unit.ts';
import { openLab } from '../support/lab.ts';
import { connect, failsWith, openPool, targetOf } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

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
    const pool = openPool(t);
    const target = targetOf(server);
    const name = 'slipway-long';
    const script =
      'cat; echo begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo "$1" >&2; echo end; exit 7';
    const hostile = "$HOME $\u007bPATH} %n %% ' \\ é\n$(id)";
    await pool.to(target).startUnit({ name, argv: sh(script, hostile), input: Buffer.from('given\n') });
    const first = await until(async () => {
      const read = await pool.to(target).readUnit(name, 0, 5_000);
      return read.next >= 12 ? read : undefined;
    }, 'its first lines');
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
  const server = await lab.shared('bare');
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
  const server = await lab.shared('bare');
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
  await until(async () => (await remote.readUnit(wish.name, 0)).next === 4, 'it to run');
  await lab.client.console(server.about.name, 'systemctl', 'kill', '--signal=KILL', 'slipway-lost.service');
  const lost = { kind: 'ended', code: 255, lost: true };
  assert.deepEqual(await follow(remote, wish.name), { printed: 'ran\n', state: lost });
  await remote.startUnit(wish);
  assert.deepEqual((await remote.readUnit(wish.name, 4)).state, lost);
});

test('stopping ends every child, also one that ignores being asked, and is confirmed', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  const argv = sh('trap "" TERM; setsid sleep 1005 & sleep 1006 & echo up; while :; do sleep 1007; done');
  await remote.startUnit({ name: 'slipway-stubborn', argv, input: Buffer.from('secret') });
  await until(async () => (await remote.readUnit('slipway-stubborn', 0)).next > 0, 'it to run');
  assert.equal((await remote.run(['grep', '-r', 'secret', '/var/lib/slipway'])).code, 1);
  await remote.stopUnit('slipway-stubborn');
  assert.equal((await remote.run(['pgrep', '-x', 'sleep'])).code, 1);
  assert.deepEqual((await remote.readUnit('slipway-stubborn', 0)).state, { kind: 'absent' });
  await remote.stopUnit('slipway-stubborn');
});

test('much output is read whole, in parts, and its end comes with the last of them', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  await remote.startUnit({ name: 'slipway-much', argv: ['head', '-c', '5000000', '/dev/zero'] });
  const { printed, state } = await follow(remote, 'slipway-much');
  assert.deepEqual([printed.length, state], [5_000_000, { kind: 'ended', code: 0 }]);
});

/** The size of what the server keeps of it. */
async function keptBytes(remote: Remote, name: string): Promise<number> {
  return Number(await remote.output(['stat', '-c', '%s', `/var/lib/slipway/units/${name}/output`]));
}

test('whoever prints without end fills neither the disk of a server nor what we read, and the last words are kept', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const script = 'echo first; yes "$1" | head -c 60000000; echo; echo last words >&2; exit 3';
  for (const [name, line] of [
    ['slipway-flood', '0123456789'],
    ['slipway-flood-of-lines', ''],
  ] as const) {
    await remote.startUnit({ name, argv: sh(script, line) });
    const { printed, state } = await follow(remote, name);
    assert.deepEqual(state, { kind: 'ended', code: 3 });
    assert.ok((await keptBytes(remote, name)) <= mostUnitBytes, 'the server keeps no more');
    assert.equal(printed.length, await keptBytes(remote, name));
    assert.match(printed.slice(0, 10), /^first\n/);
    assert.match(printed.slice(-20), /\nlast words\n$/);
    assert.ok(printed.split('\n').length < 105_010, 'nor more lines');
    const [, lost = ''] = /\n\[Slipway: (\d+) bytes, \d+ lines were left out here\]\n/.exec(printed) ?? [];
    const ours = printed.split('\n').filter((each) => each.startsWith('[Slipway: '));
    assert.equal(ours.length, 2);
    const shown = printed.length - ours.join('\n\n').length - 1;
    // `yes` complains when nobody reads it any more.
    assert.ok(Math.abs(Number(lost) + shown - 60_000_018) < 100, `${lost} and ${shown}`);
    await remote.stopUnit(name);
  }
});

test('whoever prints a line without end gets as far, and one that leaves a noisy child behind still ends', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const line = sh('head -c 60000000 /dev/zero | tr "\\0" x; echo " end" >&2; kill -KILL $$');
  await remote.startUnit({ name: 'slipway-line', argv: line });
  const { printed, state } = await follow(remote, 'slipway-line');
  assert.deepEqual(state, { kind: 'ended', code: 137 });
  assert.ok((await keptBytes(remote, 'slipway-line')) <= mostUnitBytes);
  assert.match(printed.slice(0, 100), /^x{100}$/);
  assert.match(printed.slice(-10), /^x{5} end\n$/);
  await remote.stopUnit('slipway-line');

  const noisy = sh('(while :; do echo noise; done) & (sleep 1009) & echo mine; exit 4');
  await remote.startUnit({ name: 'slipway-noisy', argv: noisy });
  const noise = await follow(remote, 'slipway-noisy');
  assert.deepEqual(noise.state, { kind: 'ended', code: 4 });
  assert.match(noise.printed, /^mine$/m);
  await remote.stopUnit('slipway-noisy');
});

test('who comes back to a unit that printed too much reads on from where it was, as if it had never been away', async (t) => {
  const server = await lab.shared('bare');
  const pool = openPool(t);
  const target = targetOf(server);
  const name = 'slipway-flood-joined';
  const script =
    'echo first; yes "$(printf %0200d 0)" | head -c 20000000; echo full; while [ ! -e /tmp/go-flood ]; do sleep 0.1; done; echo end';
  await pool.to(target).startUnit({ name, argv: sh(script) });
  const first: Buffer[] = [];
  let next = 0;
  await until(async () => {
    const read = await pool.to(target).readUnit(name, next, 1_000);
    first.push(read.bytes);
    next = read.next;
    return read.bytes.length === 0 && next > 8_000_000;
  }, 'the beginning to be full');
  pool.drop(target.serverId);
  await pool.to(target).run(['touch', '/tmp/go-flood']);
  const rest = await follow(pool.to(target), name, next);
  assert.deepEqual(rest.state, { kind: 'ended', code: 0 });
  assert.match(rest.printed.slice(-20), /full\nend\n$/);
  const whole = await follow(pool.to(target), name);
  assert.equal(Buffer.concat(first).toString() + rest.printed, whole.printed);
  await pool.to(target).stopUnit(name);
});

test('a lower epoch than the highest one seen can do nothing, also where many claim at once', async (t) => {
  const server = await lab.shared('bare');
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

test('who was replaced cannot end what its successor has joined, and who follows late hears all of it', async (t) => {
  const server = await lab.shared('bare');
  const argv = sh(
    'echo begun; echo "$1"; while [ ! -e /tmp/go-joined ]; do sleep 0.1; done; echo end',
    'datum',
  );
  const wish = (epoch: number) => ({
    name: 'slipway-joined',
    argv,
    fence: { scope: 'server-c', epoch },
    what: 'The test',
  });
  const [stale, next] = [connect(t, server), connect(t, server)];
  const lost = new AbortController();
  const [first, second]: [string[], string[]] = [[], []];
  const old = assert.rejects(
    followUnit(stale, wish(4), { signal: lost.signal, line: (text) => void first.push(text) }),
    failsWith('remote_fenced', /epoch 5/),
  );
  await until(() => first.length === 2, 'its first lines');
  const { signal } = new AbortController();
  const joined = followUnit(next, wish(5), { signal, line: (text) => void second.push(text) });
  await until(() => second.length === 2, 'the successor to join');
  lost.abort(new Error('lease lost'));
  await old;
  await next.run(['touch', '/tmp/go-joined']);
  await joined;
  assert.deepEqual(second, ['begun', 'datum', 'end']);
  assert.deepEqual((await next.readUnit('slipway-joined', 0)).state, { kind: 'absent' });
});

test('a step of hardening waits for what an earlier attempt left running, and then does its own work once', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const argv = sh(
    'echo "$1 begins" >>/tmp/told; while [ ! -e /tmp/go-own ]; do sleep 0.1; done; echo "$1 ends" >>/tmp/told',
  );
  await remote.startUnit({ name: 'slipway-harden-ssh-settings', argv: [...argv, 'earlier'] });
  const fence = { scope: 'server-d', epoch: 2 };
  const own = runDetached(
    remote,
    'ssh_settings',
    [...argv.slice(0, 2), 'echo "own $1" | tee -a /tmp/told; exit 72', 'sh', 'work'],
    fence,
  );
  await until(async () => (await remote.readFile('/tmp/told'))?.length, 'the earlier one to run');
  await remote.run(['touch', '/tmp/go-own']);
  assert.deepEqual(await own, { code: 72, output: 'own work\n' });
  assert.equal(String(await remote.readFile('/tmp/told')), 'earlier begins\nearlier ends\nown work\n');
  await assert.rejects(
    runDetached(remote, 'ssh_settings', argv, { ...fence, epoch: 1 }),
    failsWith('remote_fenced'),
  );
  assert.equal(
    (await remote.output(['sh', '-c', 'ls -A /var/lib/slipway/units | grep harden || true'])).toString(),
    '',
  );
});

test('cancelled, a unit is gone with its children before the call returns', async (t) => {
  const remote = connect(t, await lab.shared('bare'));
  const abort = new AbortController();
  const wish = { name: 'slipway-cancelled', argv: sh('echo up; sleep 1008'), what: 'The test' };
  const line = () => abort.abort(new Error('enough'));
  await assert.rejects(followUnit(remote, wish, { signal: abort.signal, line }), /enough/);
  assert.equal((await remote.run(['pgrep', '-f', '-x', 'sleep 1008'])).code, 1);
  assert.deepEqual((await remote.readUnit(wish.name, 0)).state, { kind: 'absent' });
});

test('a file is there whole with its mode and owner, or as it was before', async (t) => {
  const server = await lab.shared('bare');
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
  const writing = assert.rejects(cut.writeFile(path, Buffer.alloc(240_000_000, 'n'), { mode: 0o600 }));
  const half = () => lab.client.console(server.about.name, 'sh', '-c', 'stat -c %s /etc/.slipway-*');
  await until(async () => Number((await half()).stdout) > 1_000_000, 'some of it to arrive');
  const newest = ['pkill', '-n', '-f', 'sshd-session: root@notty'];
  await lab.client.console(server.about.name, ...newest);
  await writing;
  assert.equal(String(await remote.readFile(path)), 'old');
  await until(async () => (await half()).code !== 0, 'the half-written file to be gone');
});
