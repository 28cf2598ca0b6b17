import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { attempt } from '../../lab/command.ts';
import type { VariantName } from '../../lab/servers/variants.ts';
import { applyStep, makePlan, undoRun } from '../../src/areas/servers/hardening/hardening.ts';
import type { StepId } from '../../src/areas/servers/hardening/plan.ts';
import { createLog } from '../../src/log.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { Remote, RemoteTarget } from '../../src/remote/remote.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { connect, labHosts, letIn, targetOf } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

class Subject {
  readonly server: TestServer;
  readonly remote: Remote;
  readonly verifyLogin: () => Promise<void>;

  constructor(t: TestContext, server: TestServer, login: Partial<RemoteTarget>) {
    this.server = server;
    this.remote = connect(t, server, login);
    this.verifyLogin = async () => {
      const pool = createRemotePool(labHosts, createLog('silent'));
      const target = targetOf(server, login);
      await pool
        .to(target)
        .output(['true'])
        .finally(() => pool.close());
    };
  }

  plan(steps?: readonly StepId[]) {
    const { user: username, port: sshPort } = this.server.about;
    const wish = {
      username,
      sshPort,
      ourAddress: lab.about.address,
      allowPorts: [],
    } as const;
    return makePlan(this.remote, steps ? { ...wish, steps } : wish);
  }

  async harden(runId: string, steps?: readonly StepId[]): Promise<StepId[]> {
    const plan = await this.plan(steps);
    const options = { runId, verifyLogin: this.verifyLogin, log: () => undefined };
    for (const { id } of plan.steps) await applyStep(this.remote, plan, id, options);
    return plan.steps.map(({ id }) => id);
  }

  async console(...argv: string[]): Promise<string> {
    return (await lab.client.console(this.server.about.name, ...argv)).stdout;
  }

  /** Every entry of /etc with its mode, owner and content; without what the linker rewrites for itself. */
  etc(): Promise<string> {
    const list = `find /etc -xdev -printf '%y %m %U %G %p %l\\n' | grep -v ' /etc/ld.so.cache ' | sort
      find /etc -xdev -type f ! -path /etc/ld.so.cache ! -path /etc/.pwd.lock -print0 | sort -z | xargs -0 sha256sum`;
    return this.console('sh', '-c', list);
  }

  /** sshd closes its port for the moment of a reload. */
  offeredMethods(): Promise<string> {
    const { user, address } = this.server.about;
    const options = ['-o', 'BatchMode=yes', '-o', 'PubkeyAuthentication=no', '-o', 'LogLevel=ERROR'];
    const known = ['-o', `UserKnownHostsFile=${lab.about.knownHosts}`];
    return until(async () => {
      const { stderr } = await attempt('ssh', [...options, ...known, `${user}@${address}`, 'true']);
      return /Connection refused/.test(stderr) ? undefined : stderr;
    }, 'sshd to listen');
  }
}

async function subject(t: TestContext, variant: VariantName): Promise<Subject> {
  const server = await lab.fresh(t, variant);
  return new Subject(t, server, variant === 'sudo' ? await letIn(lab, server) : {});
}

const hashed = (text: string) => createHash('sha256').update(text).digest('hex');

test('a dry run shows every file as a difference, and changes nothing', async (t) => {
  const bare = await subject(t, 'bare');
  const before = await bare.etc();
  const plan = await bare.plan();
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  for (const file of plan.steps.flatMap(({ files }) => files)) {
    assert.match(file.diff, new RegExp(`^--- /dev/null\n\\+\\+\\+ ${file.path}\n@@ -0,0 \\+1,`));
    for (const line of file.after?.trimEnd().split('\n') ?? []) assert.ok(file.diff.includes(`\n+${line}\n`));
  }
  assert.deepEqual(
    plan.steps.filter(({ lockoutRisk }) => lockoutRisk).map(({ id }) => id),
    ['firewall', 'docker_ports', 'banner', 'ssh_settings', 'ssh_algorithms', 'ssh_no_passwords'],
  );
  assert.equal(await bare.etc(), before);
  assert.equal(await bare.console('ls', '/var/lib/slipway'), '');
  assert.equal((await bare.plan()).fingerprint, plan.fingerprint);
});

for (const variant of ['sudo', 'bookworm'] as const) {
  test(`${variant}: hardened through and through, the second plan is empty, undo leaves /etc as it was`, async (t) => {
    const server = await subject(t, variant);
    const before = await server.etc();
    assert.match(await server.offeredMethods(), /\(publickey,password\)/);
    await server.harden('first');

    const sshd = await server.console('sshd', '-T', '-C', `user=root,host=x,addr=${lab.about.address}`);
    const root = variant === 'sudo' ? 'no' : 'without-password';
    for (const line of [`permitrootlogin ${root}`, 'passwordauthentication no', 'x11forwarding no'])
      assert.match(sshd, new RegExp(`^${line}$`, 'm'));
    assert.match(await server.offeredMethods(), /Permission denied \(publickey\)/);
    assert.deepEqual((await server.plan()).steps, []);
    assert.equal(await server.console('systemctl', '--failed', '--quiet', '--plain', '--no-legend'), '');

    await server.console('fail2ban-client', 'set', 'sshd', 'banip', '192.0.2.9');
    assert.match(await server.console('nft', 'list', 'ruleset'), /192\.0\.2\.9/);
    assert.match(
      await server.console('fail2ban-client', 'get', 'sshd', 'ignoreip'),
      new RegExp(`- ${lab.about.address.replaceAll('.', '\\.')}$`, 'm'),
    );

    await undoRun(server.remote, 'first', () => undefined);
    const after = await server.etc();
    if (hashed(after) !== hashed(before)) assert.deepEqual(after.split('\n'), before.split('\n'));
    assert.match(await server.offeredMethods(), /\(publickey,password\)/);
    assert.ok((await server.plan()).steps.length > 8);
    assert.deepEqual(await undoRun(server.remote, 'first', () => undefined), {
      runId: 'first',
      restored: [],
      purged: [],
    });
  });
}

test('a port that Docker publishes does not answer from outside while 80 does, after a restart of Docker too', async (t) => {
  const docker = await subject(t, 'docker');
  const publish = 'docker run --detach --restart always --publish';
  await docker.server.ssh(`${publish} 80:80 nginx && ${publish} 5432:80 nginx`);
  const answers = (port: number) =>
    fetch(`http://${docker.server.about.address}:${port}/`, { signal: AbortSignal.timeout(1_500) }).then(
      () => true,
      () => undefined,
    );
  await until(() => answers(5432), 'the container to answer');
  await docker.harden('first', ['firewall', 'docker_ports']);
  assert.equal(await answers(5432), undefined);
  await until(() => answers(80), 'port 80 to answer');

  await docker.server.ssh('systemctl restart docker');
  await until(() => answers(80), 'port 80 to answer again');
  assert.equal(await answers(5432), undefined);
  const inside = `docker run --rm busybox wget -q -T 5 -O - http://${docker.server.about.address}:5432/`;
  assert.match(await docker.server.ssh(inside), /nginx/i);

  await undoRun(docker.remote, 'first', () => undefined);
  await until(() => answers(5432), 'the container to answer again');
});
