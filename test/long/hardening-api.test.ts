import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import { openLab } from '../support/lab.ts';
import { noticesIn } from '../support/notifications.ts';
import { newPerson } from '../support/people.ts';
import { lastOperation, progressOf } from '../support/servers.ts';
import { sharedTestApp } from '../support/shared-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('a bare server with a sudo user and a password is registered, provisioned and hardened over the API alone', async (t) => {
  const service = await sharedTestApp();
  const { token } = await newPerson(service);
  const { about } = await lab.fresh(t, 'sudo');
  const { address: host, user: username, password, name } = about;
  const auth = { type: 'password', password };
  const made = await service.call('POST', '/servers', { token, body: { name, host, username, auth } });
  assert.equal(made.status, 201, made.text);
  const id = String(made.body.id);
  const provisioned = await lastOperation(service, token, id, 'server_provision');
  assert.equal(provisioned.status, 'succeeded', JSON.stringify(provisioned.fault));
  // A database that someone published by mistake.
  const database = ['docker', 'run', '-d', '--name', 'db', '-p', '6379:6379', 'redis:8'];
  assert.equal((await lab.client.console(name, ...database)).code, 0);
  await until(() => answers(host, 6379), 'the database to answer');

  const before = await service.call('GET', `/servers/${id}/security?refresh=true`, { token });
  assert.equal(before.status, 200, before.text);
  assert.equal(before.body.state, 'at_risk');
  const plan = await service.call('POST', `/servers/${id}/security/harden`, {
    token,
    body: { dryRun: true },
  });
  assert.equal(plan.status, 200, plan.text);
  assert.ok(Object(plan.body.steps).length > 5);
  assert.match(plan.text, /00-slipway/);

  const body = { planFingerprint: plan.body.fingerprint };
  const started = await service.call('POST', `/servers/${id}/security/harden`, { token, body });
  assert.equal(started.status, 202, started.text);
  const hardened = await lastOperation(service, token, id, 'server_harden');
  assert.equal(hardened.status, 'succeeded', JSON.stringify(hardened.fault));
  const far = await progressOf(service, token, started.body.id);
  const planned: { id: string; title: string }[] = Object(plan.body.steps);
  const begun = planned.map(({ id, title }, at) => `${id}: ${at + 1} of ${planned.length}: ${title}`);
  const first = new Map(far.map(({ step, text }) => [step, text] as const).toReversed());
  for (const each of begun) {
    const [step = ''] = each.split(':');
    assert.ok(`${step}: ${first.get(step)}`.startsWith(each), `${each}: ${JSON.stringify(far)}`);
  }
  assert.match(
    JSON.stringify(far),
    /(fetching|unpacking|setting up) \S+, \d+ of \d+/,
    'within a step that installs',
  );
  const fractions = far.map(({ fraction }) => fraction);
  assert.deepEqual(
    fractions,
    fractions.toSorted((one, other) => one - other),
    'it never goes back',
  );
  assert.equal(fractions.at(-1), 1);

  const sshd = (await lab.client.console(name, 'sshd', '-T', '-C', 'user=root,host=x,addr=10.0.0.9')).stdout;
  assert.match(sshd, /^permitrootlogin no$/m);
  assert.match(sshd, /^passwordauthentication no$/m);
  const options = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'PubkeyAuthentication=no',
  ];
  const login = await attempt('ssh', [
    ...options,
    '-o',
    'BatchMode=no',
    '-o',
    'NumberOfPasswordPrompts=0',
    `${username}@${host}`,
    'true',
  ]);
  assert.notEqual(login.code, 0);
  assert.match(login.stderr, /Permission denied \(publickey\)/);
  for (const port of [80, 443]) assert.equal(await answers(host, port), true, `port ${port}`);
  assert.equal(await answers(host, 6379), false, 'the database is still open');

  await lab.client.console(name, 'fail2ban-client', 'set', 'sshd', 'banip', '192.0.2.9');
  const banned = await lab.client.console(name, 'fail2ban-client', 'status', 'sshd');
  assert.match(banned.stdout, /Banned IP list:.*192\.0\.2\.9/);
  const ignored = await lab.client.console(name, 'fail2ban-client', 'get', 'sshd', 'ignoreip');
  assert.match(ignored.stdout, new RegExp(lab.about.address.replaceAll('.', '\\.')));

  const after = await service.call('GET', `/servers/${id}/security?refresh=true`, { token });
  assert.notEqual(
    after.body.state,
    'at_risk',
    JSON.stringify(Object(after.body.checks).filter((each: { status: string }) => each.status === 'fail')),
  );
  assert.ok(Number(after.body.score) > Number(before.body.score));
  const second = await service.call('POST', `/servers/${id}/security/harden`, {
    token,
    body: { dryRun: true },
  });
  assert.deepEqual(second.body.steps, []);

  const undo = await service.call('POST', `/servers/${id}/security/undo`, {
    token,
    body: { operationId: started.body.id },
  });
  assert.equal(undo.status, 202, undo.text);
  const undone = await lastOperation(service, token, id, 'server_undo_hardening');
  assert.equal(undone.status, 'succeeded', JSON.stringify(undone.fault));
  const again = (await lab.client.console(name, 'sshd', '-T', '-C', 'user=root,host=x,addr=10.0.0.9')).stdout;
  assert.match(again, /^passwordauthentication yes$/m);
  const worse = await service.call('GET', `/servers/${id}/security?refresh=true`, { token });
  assert.equal(worse.body.state, 'at_risk');
  const told = (await noticesIn(service)).at(-1);
  assert.deepEqual([told?.kind, told?.data.was], ['server_security_worse', after.body.state]);
});

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 3_000 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });
}
