import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import { checkDueServers } from '../../src/areas/servers/check-servers.ts';
import { sql } from '../../src/store/sql.ts';
import type { TestApp } from '../support/app.ts';
import { openLab } from '../support/lab.ts';
import { noticesIn } from '../support/notifications.ts';
import { newPerson } from '../support/people.ts';
import { placesThatHold, serverSearch } from '../support/secret-search.ts';
import { connectionTest, lastOperation, progressOf } from '../support/servers.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

async function begin(): Promise<{ service: TestApp; token: string }> {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  return { service, token };
}

test('a bare server with a sudo user and a password is registered and provisioned over the API alone', async (t) => {
  const { service, token } = await begin();
  const { about } = await lab.fresh(t, 'sudo');
  const { address: host, user: username, password, name } = about;
  const body = { name, host, username, auth: { type: 'password', password } };
  const made = await service.call('POST', '/servers', { token, body });
  assert.equal(made.status, 201, made.text);
  const id = String(made.body.id);
  const operation = await lastOperation(service, token, id, 'server_provision');
  assert.equal(operation.status, 'succeeded', JSON.stringify(operation.fault));
  const installed = (await progressOf(service, token, operation.id)).filter(({ step }) => step === 'docker');
  assert.ok(installed.length > 1, 'who waits for Docker sees how far it is');
  assert.match(installed.at(-1)?.text ?? '', /^setting up \S+, (\d+) of \1$/);
  const { body: server } = await service.call('GET', `/servers/${id}`, { token });
  assert.equal(server.status, 'ready');
  assert.match(Object(server.facts).os, /Debian GNU\/Linux 13/);
  assert.match(Object(server.facts).dockerVersion, /^26\./);
  assert.ok(server.hostKeyFingerprint);
  for (const scheme of ['http', 'https']) {
    const answer = await attempt('curl', [
      '-sk',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      `${scheme}://${host}/`,
    ]);
    assert.equal(answer.stdout, '404', `${scheme}: ${answer.stderr}`);
  }

  // The password was used and is nowhere; what is looked for elsewhere is found.
  assert.ok(password);
  const onServer = async (text: string) =>
    (await lab.client.console(name, 'sh', '-c', serverSearch, 'sh', text)).stdout.trim();
  assert.deepEqual(await placesThatHold(service, password), []);
  assert.equal(await onServer(password), '');
  assert.ok((await placesThatHold(service, `slipway-${id}`)).includes('public.servers'));
  assert.match(await onServer(`slipway-${id}`), /^\/home\/deploy\/\.ssh\/authorized_keys$/m);

  // A second run finds everything and changes nothing.
  const state = () =>
    lab.client.console(
      name,
      'sh',
      '-c',
      'docker ps --no-trunc --format "{{.ID}} {{.Names}}"; sha256sum /etc/docker/daemon.json /var/lib/slipway/proxy/config/00-base.cfg; docker network ls --format "{{.ID}} {{.Name}}"',
    );
  const before = await state();
  const again = await service.call('POST', `/servers/${id}/provision`, { token });
  assert.equal(again.status, 202, again.text);
  const second = await until(async () => {
    const { body: seen } = await service.call('GET', `/operations/${again.body.id}`, { token });
    return seen.finishedAt ? seen : undefined;
  }, 'the second provisioning');
  assert.equal(second.status, 'succeeded', JSON.stringify(second.fault));
  assert.deepEqual(await state(), before);

  // Deleting takes everything away that we brought, our way in included.
  const removed = await service.call('DELETE', `/servers/${id}`, { token });
  assert.equal(removed.status, 202, removed.text);
  await until(
    async () => (await service.call('GET', `/servers/${id}`, { token })).status === 404,
    'the server to be gone',
  );
  const left = await lab.client.console(
    name,
    'sh',
    '-c',
    'docker ps -aq; docker network ls -q --filter label=slipway; ls /var/lib/slipway /etc/sudoers.d/90-slipway* 2>/dev/null; grep -h slipway /home/*/.ssh/authorized_keys || true',
  );
  assert.equal(left.stdout, '');
});

test('a server whose key was installed by its owner is provisioned as soon as it lets us in', async (t) => {
  const { service, token } = await begin();
  const server = await lab.fresh(t, 'docker');
  const body = { name: 'own', host: server.about.address, auth: { type: 'generated' } };
  const made = await service.call('POST', '/servers', { token, body });
  const id = String(made.body.id);
  const steps = await connectionTest(service, token, { serverId: id });
  assert.equal(steps.at(-1)?.data.ok, false);
  assert.equal(steps.find(({ data }) => data.step === 'authenticate')?.data.code, 'login_refused');
  await server.ssh('cat >> .ssh/authorized_keys', `${made.body.publicKey}\n`);
  const passed = await connectionTest(service, token, { serverId: id });
  assert.deepEqual(
    passed.map(({ data }) => data.status ?? data.ok),
    [...Array.from({ length: 9 }, () => 'passed'), true],
  );
  await checkDueServers(service.app.contexts.servers);
  const operation = await lastOperation(service, token, id, 'server_provision');
  assert.equal(operation.status, 'succeeded', JSON.stringify(operation.fault));
  const before = await lab.client.console(
    server.about.name,
    'docker',
    'version',
    '--format',
    '{{.Server.Version}}',
  );
  assert.match(before.stdout, /^26\./);

  // Away and back: each is told, once.
  const look = async () => {
    await service.app.store.db.run(sql`update servers set check_at = '2000-01-01' where id = ${id}`);
    await checkDueServers(service.app.contexts.servers);
    return (await service.call('GET', `/servers/${id}`, { token })).body.status;
  };
  await lab.client.cut(server.about.name);
  assert.equal(await look(), 'unreachable');
  assert.equal(await look(), 'unreachable');
  await lab.client.heal(server.about.name);
  assert.equal(await look(), 'ready');
  assert.equal(await look(), 'ready');
  const mine = (await noticesIn(service)).filter(({ data }) => data.serverName === 'own');
  const told = mine.map(({ kind, data }) => [kind, data.serverName]);
  assert.deepEqual(told, [
    ['server_unreachable', 'own'],
    ['server_back', 'own'],
  ]);
});

test('a swapped host key: no command reaches the server, the API says why, and a person accepts the new one', async (t) => {
  const { service, token } = await begin();
  const server = await lab.fresh(t, 'docker');
  const { name, address: host } = server.about;
  const made = await service.call('POST', '/servers', {
    token,
    body: { name, host, auth: { type: 'generated' } },
  });
  const id = String(made.body.id);
  await server.ssh('cat >> .ssh/authorized_keys', `${made.body.publicKey}\n`);
  await checkDueServers(service.app.contexts.servers);
  await lastOperation(service, token, id, 'server_provision');
  await lab.client.reset(name, { newHostKeys: true });
  service.clock.advance(120_000);
  await checkDueServers(service.app.contexts.servers);
  const { body: blocked } = await service.call('GET', `/servers/${id}`, { token });
  assert.equal(blocked.status, 'host_key_changed');
  assert.equal(Object(blocked.problem).code, 'host_key_changed');
  assert.ok(
    blocked.offeredHostKeyFingerprint && blocked.offeredHostKeyFingerprint !== blocked.hostKeyFingerprint,
  );
  const told = (await noticesIn(service)).find(({ data }) => data.serverName === name);
  assert.deepEqual(
    [told?.kind, Object(told?.data.fault).code],
    ['server_host_key_changed', 'host_key_changed'],
  );
  const steps = await connectionTest(service, token, { serverId: id });
  assert.equal(steps.find(({ data }) => data.status === 'failed')?.data.code, 'host_key_changed');
  // Whoever answers there has seen no login of ours.
  const logins = await lab.client.console(
    name,
    'sh',
    '-c',
    'journalctl -u ssh --no-pager | grep -c "Accepted\\|Failed\\|authenticating" || true',
  );
  assert.equal(logins.stdout.trim(), '0');
  const wrong = await service.call('PATCH', `/servers/${id}`, {
    token,
    body: { acceptHostKey: blocked.hostKeyFingerprint },
  });
  assert.equal(wrong.body.code, 'host_key_mismatch');
  const accepted = await service.call('PATCH', `/servers/${id}`, {
    token,
    body: { acceptHostKey: blocked.offeredHostKeyFingerprint },
  });
  assert.deepEqual(
    [accepted.status, accepted.body.status, accepted.body.hostKeyFingerprint],
    [200, 'pending', blocked.offeredHostKeyFingerprint],
  );
});

test('every failure of a connection test has its own step, code and words', async (t) => {
  const { service, token } = await begin();
  const server = await lab.fresh(t, 'sudo');
  const { address: host, user: username, password, name } = server.about;
  const body = { name, host, username, auth: { type: 'password', password } };
  const failed = async (change: object) => {
    const steps = await connectionTest(service, token, { ...body, ...change });
    const result = steps.at(-1)?.data;
    assert.equal(result?.ok, false, JSON.stringify(steps));
    const { step, code, message } = Object(result?.fault);
    assert.ok(message.length > 20, message);
    return [step, code];
  };
  assert.deepEqual(await failed({ host: 'nobody.invalid' }), ['resolve', 'name_not_resolved']);
  assert.deepEqual(await failed({ port: 2 }), ['tcp', 'port_refused']);
  const other = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  assert.deepEqual(await failed({ hostKeyFingerprint: other }), ['authenticate', 'host_key_mismatch']);
  assert.deepEqual(await failed({ auth: { type: 'password', password: 'wrong' } }), [
    'authenticate',
    'login_refused',
  ]);
  const sh = (script: string) => lab.client.console(name, 'sh', '-euc', script);
  await sh('sed -i s/^VERSION_ID=.*/VERSION_ID=9/ /usr/lib/os-release');
  assert.deepEqual(await failed({}), ['system', 'system_unsupported']);
  await sh('sed -i s/^VERSION_ID=.*/VERSION_ID=13/ /usr/lib/os-release');
  await lab.client.cut(name);
  assert.deepEqual(await failed({}), ['tcp', 'port_filtered']);
});

test('what is wrong on a server that lets us in has its own step, code and words too', async (t) => {
  const { service, token } = await begin();
  const server = await lab.fresh(t, 'docker');
  const { address: host, name } = server.about;
  const privateKey = readFileSync(server.about.keyFile ?? '', 'utf8');
  const sh = (script: string) => lab.client.console(name, 'sh', '-euc', script);
  const ends = async (username = 'root') => {
    const steps = await connectionTest(service, token, {
      name,
      host,
      username,
      auth: { type: 'key', privateKey },
    });
    const { ok, fault } = Object(steps.at(-1)?.data);
    const warned = steps.find(({ data }) => data.status === 'warning')?.data;
    return ok ? ['ok', warned?.code ?? 'nothing'] : [fault.step, fault.code];
  };
  assert.deepEqual(await ends(), ['ok', 'nothing']);
  await sh(
    'useradd -m -s /bin/bash plain && cp -r /root/.ssh /home/plain/ && chown -R plain: /home/plain/.ssh',
  );
  assert.deepEqual(await ends('plain'), ['privilege', 'sudo_refused']);
  // Programs of the server that say what an old, a full and a late server would say.
  await sh("printf '#!/bin/sh\\necho 19.03.8\\n' > /usr/local/bin/docker && chmod 755 /usr/local/bin/docker");
  assert.deepEqual(await ends(), ['docker', 'docker_too_old']);
  await sh("printf '#!/bin/sh\\necho cannot connect >&2; exit 1\\n' > /usr/local/bin/docker");
  assert.deepEqual(await ends(), ['ok', 'docker_missing']);
  await sh(
    'rm /usr/local/bin/docker; systemctl stop docker docker.socket; mount -t tmpfs -o size=200m tmpfs /var/lib/docker; systemctl start docker',
  );
  assert.deepEqual(await ends(), ['resources', 'disk_full']);
  await sh('systemctl stop docker docker.socket; umount /var/lib/docker; systemctl start docker');
  await sh(
    'printf \'#!/bin/sh\\n[ "$1" = +%%s%%3N ] && exec /usr/bin/date -d "5 minutes" +%%s%%3N\\nexec /usr/bin/date "$@"\\n\' > /usr/local/bin/date && chmod 755 /usr/local/bin/date',
  );
  assert.deepEqual(await ends(), ['clock', 'clock_wrong']);
});
