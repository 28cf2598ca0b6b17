import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { connectWith, readHostKey } from '../../src/remote/ssh/connect.ts';
import { tcpCheck } from '../../src/remote/ssh/tcp.ts';
import { Secret } from '../../src/secret.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { connect, failsWith, openPool, pinOf, labHosts as resolve, targetOf } from '../support/remote.ts';

const lab = await openLab();

/** Every login that sshd let in, as its own log has it. */
const logins = async ({ about }: TestServer) => {
  const { stdout } = await lab.client.console(
    about.name,
    'journalctl',
    '-u',
    'ssh',
    '-o',
    'cat',
    '--no-pager',
  );
  return stdout.split('\n').filter((line) => /Accepted|Failed|Invalid user|authenticating user/.test(line))
    .length;
};

test('a server whose host key was swapped gets neither a user name nor a command', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const before = connect(t, server);
  assert.equal((await before.run(['true'])).code, 0);
  await lab.client.reset(server.about.name, { newHostKeys: true });
  assert.equal(await logins(server), 0);
  const changed = failsWith('host_key_changed', /pinned SHA256:\S+, offered SHA256:/);
  const remote = connect(t, server);
  for (let count = 0; count < 3; count += 1) await assert.rejects(remote.run(['touch', '/reached']), changed);
  await assert.rejects(remote.startUnit({ name: 'slipway-x', argv: ['true'] }), changed);
  assert.equal(await logins(server), 0);
  const { stdout } = await lab.client.console(server.about.name, 'ls', '/');
  assert.doesNotMatch(stdout, /reached/);
});

test('a pin of any of the server’s keys counts, and the key is read without logging in', async (t) => {
  const server = await lab.shared('bare');
  const { host, port } = targetOf(server);
  const shown = await readHostKey({ host, port, resolve });
  assert.deepEqual(shown, { type: 'ssh-ed25519', fingerprint: pinOf(server) });
  assert.equal(await logins(server), 0);
  for (const type of ['ecdsa', 'ssh-rsa']) {
    const remote = connect(t, server, { hostKey: pinOf(server, type) });
    assert.equal((await remote.run(['true'])).code, 0);
  }
});

test('each way to fail has its own code', async (t) => {
  const server = await lab.shared('sudo');
  const way = targetOf(server);
  const { host, port } = way;
  await assert.rejects(resolve('no-such-host.invalid'), failsWith('name_not_resolved'));
  await assert.rejects(tcpCheck({ host, port: 2, resolve }), failsWith('port_refused'));
  await tcpCheck({ host, port, resolve });
  const gone = connect(t, server, { host: 'no-such-host.invalid' });
  await assert.rejects(gone.run(['true']), failsWith('name_not_resolved'));
  await assert.rejects(
    connect(t, server, { port: 2 }).run(['true'], { timeoutMs: 30_000 }),
    failsWith('port_refused'),
  );
  await assert.rejects(connect(t, server).run(['true']), failsWith('login_refused', /publickey.*password/));
  const wrong = { ...way, resolve, auth: { password: new Secret('wrong') }, expectedHostKey: way.hostKey };
  await assert.rejects(connectWith(wrong), failsWith('login_refused', /password of deploy/));
  const right = await connectWith({ ...wrong, auth: { password: new Secret(server.about.password ?? '') } });
  assert.equal(right.hostKey.fingerprint, way.hostKey);
  await right.close();

  await lab.client.cut(server.about.name);
  await assert.rejects(tcpCheck({ host, port, resolve }, 500), failsWith('port_filtered'));
  await assert.rejects(connectWith({ ...wrong, timeoutMs: 500 }), failsWith('port_filtered'));
});

test('what is no SSH server, or says nothing, is told apart and given up', async (t) => {
  const silent = createServer(() => undefined);
  const web = createServer((socket) =>
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n').on('error', () => undefined),
  );
  for (const server of [silent, web]) {
    await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
    t.after(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    await assert.rejects(
      readHostKey({ host: '127.0.0.1', port, resolve, timeoutMs: 500 }),
      failsWith('remote_unreachable', /does not speak SSH/),
    );
  }
});

test('a server that offers only weak algorithms is refused at once, and told so', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const weak = [
    'KexAlgorithms diffie-hellman-group14-sha1',
    'Ciphers aes128-cbc',
    'MACs hmac-sha1\nCiphers aes128-ctr',
    'HostKeyAlgorithms ssh-rsa',
  ];
  for (const lines of weak) {
    const script =
      'printf "%s\\n" "$1" >/etc/ssh/sshd_config.d/00-weak.conf; sshd -t && systemctl restart ssh';
    const { code } = await lab.client.console(server.about.name, 'sh', '-c', script, 'sh', lines);
    assert.equal(code, 0, lines);
    await assert.rejects(
      connect(t, server).run(['true']),
      failsWith('ssh_algorithms_weak', /no longer safe.*no matching/),
      lines,
    );
  }
});

test('a connection that breaks fails what runs on it, and the next call makes a new one', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  assert.equal((await remote.run(['true'])).code, 0);
  const under = remote.run(['sleep', '600']);
  const streams = await remote.stream(['sh', '-c', 'echo begun; sleep 600']);
  const read = assert.rejects(async () => {
    for await (const _chunk of streams.stdout);
  }, failsWith('remote_unreachable'));
  const failed = assert.rejects(under, failsWith('remote_unreachable'));
  await lab.client.console(server.about.name, 'pkill', '-f', 'sshd-session: root@notty');
  await Promise.all([read, failed]);
  assert.equal((await remote.run(['true'])).code, 0);
});

test('a network that is cut is noticed long before the limit of what runs, nobody waits past their own, and healed it goes on', async (t) => {
  const server = await lab.shared('bare');
  const remote = connect(t, server);
  assert.equal((await remote.run(['true'])).code, 0);
  const long = assert.rejects(
    remote.run(['sleep', '600'], { timeoutMs: 600_000 }),
    failsWith('remote_unreachable'),
  );
  await lab.client.cut(server.about.name);
  await assert.rejects(remote.run(['true'], { timeoutMs: 1_000 }), failsWith('remote_timeout'));
  await long;
  await assert.rejects(remote.run(['true'], { timeoutMs: 1_000 }), failsWith('remote_timeout'));
  await lab.client.heal(server.about.name);
  assert.equal((await remote.run(['true'], { timeoutMs: 60_000 })).code, 0);
});

test('what is dropped or closed ends at once, and stays closed', async (t) => {
  const server = await lab.shared('bare');
  const pool = openPool(t);
  const target = targetOf(server);
  const remote = pool.to(target);
  const streams = await remote.stream(['sleep', '600']);
  pool.drop(target.serverId);
  await assert.rejects(streams.ended, failsWith('remote_unreachable'));
  await assert.rejects(remote.run(['true']), failsWith('remote_unreachable'));
  const again = pool.to(target);
  const last = await again.stream(['sleep', '600']);
  await pool.close();
  await assert.rejects(last.ended, failsWith('remote_unreachable'));
  await assert.rejects(again.run(['true']), failsWith('shutting_down'));
  assert.throws(() => pool.to(target), failsWith('shutting_down'));
});
