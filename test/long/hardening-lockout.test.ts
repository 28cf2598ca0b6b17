import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyStep, makePlan, readRuns, undoRun } from '../../src/areas/servers/hardening/hardening.ts';
import type { Plan, StepId } from '../../src/areas/servers/hardening/plan.ts';
import { Fault } from '../../src/fault.ts';
import { openLab } from '../support/lab.ts';
import { installing } from '../support/packages.ts';
import { connect, failsWith } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const noLog = () => undefined;
const changedSince = (path: string) => (error: unknown) =>
  failsWith('changed_since')(error) &&
  error instanceof Fault &&
  (error.errors ?? []).some((each) => each.path === path);

async function bareServer(t: TestContext) {
  const server = await lab.fresh(t, 'bare');
  const remote = connect(t, server);
  const wish = { username: 'root', sshPort: 22, ourAddress: lab.about.address, allowPorts: [] };
  return {
    server,
    remote,
    plan: (...steps: StepId[]) => makePlan(remote, { ...wish, steps }),
    verifyLogin: () => server.ssh('true').then(noLog),
    canLogIn: async () => (await server.trySsh('true')).code === 0 || undefined,
    console: async (...argv: string[]) => (await lab.client.console(server.about.name, ...argv)).stdout,
  };
}

/** The plan as it would be with a mistake in it: nobody gets in any more, whoever is in stays or not. */
function lockingOut(plan: Plan, keepsConnections: boolean): Plan {
  const damage = (text: string) =>
    text
      .split('\n')
      .filter((line) => !/tcp dport/.test(line) && (keepsConnections || !/established/.test(line)))
      .join('\n');
  const steps = plan.steps.map((step) => ({
    ...step,
    files: step.files.map((file) => ({ ...file, after: damage(file.after ?? '') })),
  }));
  return { ...plan, steps };
}

/** The first proof succeeds; then nothing is heard of us any more. */
function diesAfterFirst(verifyLogin: () => Promise<void>): () => Promise<void> {
  let proofs = 0;
  return () => {
    proofs += 1;
    return proofs === 1 ? verifyLogin() : new Promise<never>(() => undefined);
  };
}

test('a firewall that lets no new login in is taken back at once, through the connection that still lives', async (t) => {
  const { remote, plan, verifyLogin, canLogIn, console } = await bareServer(t);
  const damaged = lockingOut(await plan('firewall'), true);
  let proofs = 0;
  const tryLogin = () => {
    proofs += 1;
    // The first one has all the time it needs; the second gets no answer, however long it waits.
    return proofs === 1 ? verifyLogin() : withLimit(verifyLogin, 3_000);
  };
  const options = { runId: 'one', verifyLogin: tryLogin, log: noLog };
  await assert.rejects(applyStep(remote, damaged, 'firewall', options), failsWith('lockout_prevented'));
  assert.equal(proofs, 2);
  assert.equal(await canLogIn(), true);
  assert.equal(await console('ls', '/etc/slipway'), '');
  assert.doesNotMatch(await console('nft', 'list', 'tables'), /slipway/);
  assert.equal(await console('systemctl', 'list-unit-files', '--quiet', 'slipway-*'), '');

  const right = await plan('firewall');
  const again = { runId: 'two', verifyLogin, log: noLog };
  assert.equal(await applyStep(remote, right, 'firewall', again), 'applied');
});

test('killed between arm and disarm, with nobody able to log in: the server takes it back at the deadline', async (t) => {
  const { remote, plan, verifyLogin, canLogIn, console } = await bareServer(t);
  const damaged = lockingOut(await plan('firewall'), false);
  const options = { runId: 'one', verifyLogin: diesAfterFirst(verifyLogin), log: noLog, deadmanSeconds: 8 };
  const ending = assert.rejects(applyStep(remote, damaged, 'firewall', options));
  const isLoaded = async () => /inet slipway/.test(await console('nft', 'list', 'tables')) || undefined;
  await until(isLoaded, 'the firewall to be loaded');
  await until(async () => !(await isLoaded()) || undefined, 'the server to take it back');
  await until(canLogIn, 'a login');
  await ending;
  const [run] = await readRuns(remote);
  assert.deepEqual([run?.steps[0]?.state, typeof run?.steps[0]?.firedAt], ['undone', 'number']);
  assert.equal(await console('ls', '/etc/slipway'), '');

  const again = await plan('firewall');
  const outcome = await applyStep(remote, again, 'firewall', { runId: 'two', verifyLogin, log: noLog });
  assert.equal(outcome, 'applied');
  assert.deepEqual((await plan('firewall')).steps, []);
});

test('a server that is booted while a step is armed takes it back when it comes up', async (t) => {
  const { remote, plan, verifyLogin, canLogIn, console } = await bareServer(t);
  const damaged = lockingOut(await plan('firewall'), true);
  const options = { runId: 'one', verifyLogin: diesAfterFirst(verifyLogin), log: noLog, deadmanSeconds: 900 };
  const applying = applyStep(remote, damaged, 'firewall', options);
  applying.catch(noLog);
  const armed = async () => /inet slipway/.test(await console('nft', 'list', 'tables')) || undefined;
  await until(armed, 'the firewall to be loaded');
  // The kernel stays, as in every container; all of userspace, the timer among it, begins anew.
  await console('systemctl', 'soft-reboot');
  await until(canLogIn, 'a login');
  assert.match(await console('systemctl', 'show', '--property', 'SoftRebootsCount'), /=1/);
  assert.equal(await console('ls', '/etc/slipway'), '');
  const [run] = await readRuns(remote);
  assert.equal(run?.steps[0]?.state, 'undone');
});

test('one that wakes after another has taken its step over takes nothing of that one back', async (t) => {
  const { remote, plan, verifyLogin, console } = await bareServer(t);
  const right = await plan('firewall');
  const asleep = Promise.withResolvers<void>();
  let [firsts, seconds] = [0, 0];
  const first = applyStep(remote, right, 'firewall', {
    runId: 'one',
    log: noLog,
    verifyLogin: () => {
      firsts += 1;
      return firsts === 1 ? verifyLogin() : asleep.promise;
    },
  });
  await until(() => firsts === 2, 'the first to wait for its login');
  const second = applyStep(remote, right, 'firewall', {
    runId: 'one',
    log: noLog,
    verifyLogin: async () => {
      seconds += 1;
      if (seconds === 2) {
        asleep.reject(new Error('its lease has ended'));
        await assert.rejects(first, failsWith('lockout_prevented'));
      }
      await verifyLogin();
    },
  });
  assert.equal(await second, 'applied');
  assert.match(await console('nft', 'list', 'tables'), /inet slipway/);
});

test('a step that was killed anywhere is done by calling it again', async (t) => {
  const { remote, plan, verifyLogin, console } = await bareServer(t);
  const made = await plan('ssh_settings', 'ssh_no_passwords');
  const dying = { runId: 'one', verifyLogin: diesAfterFirst(verifyLogin), log: noLog, deadmanSeconds: 900 };
  applyStep(remote, made, 'ssh_settings', dying).catch(noLog);
  const isArmed = async () =>
    /forwarding no/i.test(await console('sh', '-c', 'sshd -T | grep x11')) || undefined;
  await until(isArmed, 'the settings to be in place');
  const options = { runId: 'one', verifyLogin, log: noLog };
  // The next step finds one that nobody has proven, and takes that back first.
  await applyStep(remote, made, 'ssh_no_passwords', options);
  assert.match(await console('sh', '-c', 'sshd -T'), /^x11forwarding yes$/m);
  await applyStep(remote, made, 'ssh_settings', options);
  assert.deepEqual((await plan('ssh_settings', 'ssh_no_passwords')).steps, []);
  assert.equal(await applyStep(remote, made, 'ssh_settings', options), 'applied');
});

test('a file that someone has changed is not overwritten, neither by the plan nor by undo', async (t) => {
  const { server, remote, plan, verifyLogin } = await bareServer(t);
  const options = { runId: 'one', verifyLogin, log: noLog };
  const path = '/etc/security/limits.d/slipway.conf';
  const made = await plan('accounts', 'kernel_modules');
  await server.ssh(`echo mine > ${path}`);
  await assert.rejects(applyStep(remote, made, 'accounts', options), changedSince(path));
  assert.equal(await server.ssh(`cat ${path}`), 'mine\n');
  await server.ssh(`rm ${path}`);

  for (const { id } of made.steps) await applyStep(remote, made, id, options);
  await server.ssh(`cp ${path} /root/kept && echo '# mine' >> ${path}`);
  await assert.rejects(undoRun(remote, 'one', noLog), changedSince(path));
  assert.match(await server.ssh(`cat ${path} /etc/modprobe.d/slipway.conf`), /# mine\n[\s\S]*dccp/);
  await server.ssh(`cat /root/kept > ${path}`);
  await undoRun(remote, 'one', noLog);
  assert.notEqual((await server.trySsh(`ls ${path} /etc/modprobe.d/slipway.conf`)).code, 0);
});

test('the whole of it satisfies lynis and ssh-audit, and bans who guesses logins', async (t) => {
  const { server, remote, verifyLogin } = await bareServer(t);
  const wish = { username: 'root', sshPort: 22, ourAddress: lab.about.address, allowPorts: [] };
  const made = await makePlan(remote, wish);
  for (const { id } of made.steps)
    await applyStep(remote, made, id, { runId: 'one', verifyLogin, log: noLog });
  await server.ssh(installing('--no-install-recommends', 'lynis', 'ssh-audit'));
  const audit = await server.trySsh('ssh-audit --level=fail 127.0.0.1');
  assert.equal(audit.stdout.trim(), '', audit.stdout);

  const guesser = await lab.fresh(t, 'bare');
  const tries = `for n in 1 2 3 4 5 6; do ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o ConnectTimeout=2 \
    nobody$n@${server.about.address} true; done; true`;
  await guesser.ssh(tries);
  const banned = async () =>
    (await server.ssh('fail2ban-client status sshd')).includes(guesser.about.address) || undefined;
  await until(banned, 'the guesser to be banned');

  await server.ssh('lynis audit system --quick --no-colors --quiet || true');
  const report = await server.ssh('cat /var/log/lynis-report.dat');
  assert.doesNotMatch(report, /^warning\[\]=/m);
  const [, index = '0'] = /^hardening_index=(\d+)$/m.exec(report) ?? [];
  assert.ok(Number(index) >= 75, `lynis gives ${index}`);
});

async function withLimit(work: () => Promise<void>, withinMs: number): Promise<void> {
  const late = sleep(withinMs, undefined, { ref: false }).then(() => Promise.reject(new Error('no login')));
  await Promise.race([work(), late]);
}
