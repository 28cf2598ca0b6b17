import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/commands.ts';
import { openLab } from '../support/lab.ts';
import { installing } from '../support/packages.ts';
import { orderReboot } from '../support/reboot.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('a server is a whole Debian: systemd runs, packages install, containers run with limits', async (t) => {
  const server = await lab.server(t, 's1');
  assert.match(await server.ssh('systemctl is-system-running --wait'), /^running$/m);
  assert.match(await server.ssh('systemctl status ssh'), /Active: active \(running\)/);
  assert.match(await server.ssh(`${installing('hello')}hello`), /Hello, world!/);
  assert.match(await server.ssh('docker run --rm node:24-slim node -v'), /^v24\./);
  const limits = 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes || cat /sys/fs/cgroup/memory.max';
  assert.match(
    await server.ssh(`docker run --rm -m 64m debian:trixie-slim sh -c '${limits}'`),
    /^67108864$/m,
  );
});

test('an image is built on a server, with `npm ci` inside, and its container answers', async (t) => {
  const server = await lab.server(t, 's2');
  const dockerfile = [
    ...[
      'FROM node:24-slim',
      'WORKDIR /app',
      'COPY package.json package-lock.json ./',
      'RUN npm ci --omit=dev',
    ],
    ...['COPY . .', 'CMD ["npm", "start"]'],
  ].join('\n');
  await server.copy(join(root, 'lab/apps/websocket-echo'), 'app');
  await server.ssh('cat > app/Dockerfile', dockerfile);
  await server.ssh('docker build --quiet --tag echo app');
  await server.ssh('docker run --detach --env PORT=3000 --publish 8080:3000 echo');
  const answer = await until(
    () => fetch(`http://${server.about.address}:8080/healthz`).catch(() => undefined),
    'the container to answer',
  );
  assert.equal(answer.status, 200);
});

test('a bare server has no Docker, and its own packages can bring it', async (t) => {
  const server = await lab.fresh(t, 'bare');
  assert.notEqual((await server.trySsh('docker version')).code, 0);
  await server.ssh(installing('docker.io', 'docker-cli'));
  assert.match(await server.ssh('docker run --rm debian:bookworm-slim cat /etc/debian_version'), /^12\./);
});

test('a server for sudo lets its user in by password only, and root not at all', async (t) => {
  const { about } = await lab.fresh(t, 'sudo');
  assert.ok(about.password);
  const shadow = await lab.client.console(about.name, 'getent', 'shadow', about.user);
  assert.match(shadow.stdout, /^deploy:\$6\$/);
  const sshd = await lab.client.console(about.name, 'sshd', '-T', '-C', 'user=root,host=x,addr=10.0.0.1');
  assert.match(sshd.stdout, /^permitrootlogin no$/m);
  assert.match(sshd.stdout, /^passwordauthentication yes$/m);
  const sudo = await lab.client.console(about.name, 'sudo', '-l', '-U', about.user);
  assert.match(sudo.stdout, /\(ALL : ALL\) ALL/);
});

test('Debian 12 with its older Docker runs the same images', async (t) => {
  const server = await lab.fresh(t, 'bookworm');
  assert.match(await server.ssh('cat /etc/debian_version'), /^12\./);
  assert.match(await server.ssh("docker version --format '{{.Server.Version}}'"), /^20\.10\./);
  assert.match(await server.ssh('docker run --rm node:24-slim node -v'), /^v24\./);
});

test('a server that is reset is as on its first day, and can come back as another machine', async (t) => {
  const server = await lab.fresh(t, 'bare');
  const { name, hostKeys } = server.about;
  await server.ssh('touch /root/mine');
  assert.deepEqual((await lab.client.reset(name)).hostKeys, hostKeys);
  assert.equal(await server.ssh('ls /root'), '');
  const other = await lab.client.reset(name, { newHostKeys: true });
  assert.notDeepEqual(other.hostKeys, hostKeys);
  assert.equal(await server.ssh('hostname'), `${name}\n`);
});

test('a server that reboots comes back by itself, with what was on its disk', async (t) => {
  const server = await lab.fresh(t, 'bare');
  await server.ssh('touch /root/kept');
  const bootId = () =>
    server.trySsh('systemctl show --property UserspaceTimestamp').then(({ stdout }) => stdout);
  const before = await bootId();
  await orderReboot(lab.client, server.about.name);
  await until(async () => {
    const now = await bootId();
    return now !== '' && now !== before;
  }, 'the server to be back');
  assert.equal(await server.ssh('ls /root'), 'kept\n');
});

test('a command on the console works while the network does not', async (t) => {
  const { about } = await lab.fresh(t, 'bare');
  await lab.client.cut(about.name);
  const outcome = await lab.client.console(about.name, 'hostname');
  assert.deepEqual(outcome, { code: 0, stdout: `${about.name}\n`, stderr: '' });
});

test('what the lab does not know is refused with what it knows', async () => {
  await assert.rejects(
    lab.client.reset('nobody'),
    /There is no server «nobody» in this lab; there is: .*s1, s2/,
  );
  await assert.rejects(
    lab.client.call('POST', '/servers', { variant: 'mac' }),
    /there is: docker, bare, sudo, provisioned, bookworm/,
  );
  await assert.rejects(lab.client.addServer('bare', 'Not a name'), /no name for a server/);
  await assert.rejects(lab.client.addServer('bare', 's1'), /There is a server «s1» already/);
});
