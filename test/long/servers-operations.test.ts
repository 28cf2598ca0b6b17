import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { planHardening } from '../../src/areas/servers/harden.ts';
import { findServer } from '../../src/areas/servers/queries.ts';
import { removeServerRecord } from '../../src/areas/servers/remove.ts';
import { fingerprintOf } from '../../src/remote/ssh/host-keys.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys } from '../support/database.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import {
  failAtEachStep,
  killAtEachWrite,
  runEachStepTwice,
  type Trial,
} from '../support/operation-trials.ts';
import { OperationBench } from '../support/operations.ts';
import {
  addServer,
  type KnownServer,
  serversContext,
  type TestServersContext,
} from '../support/servers-context.ts';

const lab = await openLab();

/** A lab server with Docker, the service's processes, and what the trials of its operations share. */
class Ground {
  readonly bench: OperationBench;
  readonly ctx: TestServersContext;
  readonly server: TestServer;

  private constructor(bench: OperationBench, ctx: TestServersContext, server: TestServer) {
    this.bench = bench;
    this.ctx = ctx;
    this.server = server;
  }

  static async open(t: TestContext): Promise<Ground> {
    const server = await lab.fresh(t, 'docker');
    const bench = await OperationBench.open(t);
    const ctx = await serversContext(t, { url: bench.databaseUrl, db: bench.db }, masterKeys(7));
    return new Ground(bench, ctx, server);
  }

  /** As root, by the console. */
  async sh(script: string): Promise<string> {
    const { code, stdout, stderr } = await lab.client.console(this.server.about.name, 'sh', '-euc', script);
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout.trim();
  }

  /** Known to the service, with a key that it lets in. */
  async register(): Promise<KnownServer> {
    const { address: host, hostKeys } = this.server.about;
    const shown = hostKeys.find((each) => each.startsWith('ssh-ed25519 ')) ?? '';
    const hostKey = fingerprintOf(Buffer.from(shown.split(' ')[1] ?? '', 'base64'));
    const known = await addServer(this.ctx, this.bench.workspaceId, { host, hostKey });
    // The light check of the processes would provision a new server by itself.
    await this.bench.db.run(
      sql`update servers set check_at = now() + interval '1 day' where id = ${known.id}`,
    );
    await this.sh(`echo '${known.publicKey}' >> /root/.ssh/authorized_keys`);
    return known;
  }

  read({ id }: KnownServer) {
    return findServer(this.bench.db, { workspaceId: this.bench.workspaceId, id });
  }

  /** Undisturbed, to its good end. */
  async succeeds(kind: string, wish: Awaited<ReturnType<Trial['begin']>>): Promise<string> {
    const id = await this.bench.enqueue(wish.input, { ...wish, kind });
    const row = await this.bench.ended(id);
    assert.equal(row.state, 'succeeded', `${kind}: ${JSON.stringify(row.fault)}`);
    return id;
  }

  async stands(trial: Trial): Promise<void> {
    await failAtEachStep(this.bench, trial);
    await runEachStepTwice(this.bench, trial);
    await killAtEachWrite(this.bench, trial);
  }
}

test('provisioning that fails, repeats itself or is killed after any step’s work is ended by the next run, and does everything once', async (t) => {
  const ground = await Ground.open(t);
  const known = await ground.register();
  const wish = { input: { serverId: known.id }, serverId: known.id };
  await ground.sh('cp /etc/docker/daemon.json /root/daemon.json');
  const kind = 'server_provision';
  const check = async (what: string) => {
    const seen = await ground.sh(`docker ps --format '{{.Names}}'
docker network ls --quiet --filter label=slipway | wc -l
grep -c live-restore /etc/docker/daemon.json
ls -A /etc/docker | tr '\\n' ' '
curl -s -o /dev/null -w ' %{http_code}' http://127.0.0.1/`);
    assert.equal(seen, 'slipway-proxy\n1\n1\ndaemon.json  404', what);
    const row = await ground.read(known);
    assert.deepEqual([row?.status, row?.provisionedAt !== null, row?.problem], ['ready', true, null], what);
  };
  await ground.stands({
    kind,
    steps: ['settings', 'proxy', 'ready'],
    afterWorkOnly: true,
    begin: async () => {
      await ground.sh(`docker rm --force slipway-proxy > /dev/null 2>&1 || true
docker network rm slipway > /dev/null 2>&1 || true
rm -rf /var/lib/slipway; cp /root/daemon.json /etc/docker/daemon.json`);
      await ground.bench.db.run(sql`
        update servers set status = 'pending', provisioned_at = null where id = ${known.id}`);
      return wish;
    },
    check: async (how, what) => {
      // What was installed stays: the next run goes on from it.
      if (how === 'failed') await ground.succeeds(kind, wish);
      await check(what);
    },
  });
});

test('a removal that fails, repeats itself or is killed after any step’s work leaves nothing behind, and no server that cannot be removed', async (t) => {
  const ground = await Ground.open(t);
  let known: KnownServer | undefined;
  const kind = 'server_remove';
  const left = () =>
    ground.sh(`docker ps --all --quiet --filter label=slipway; docker network ls --quiet --filter label=slipway
ls -d /var/lib/slipway /etc/sudoers.d/90-slipway* 2> /dev/null || true
grep slipway- /root/.ssh/authorized_keys || true`);
  await ground.stands({
    kind,
    steps: ['clear', 'way_in', 'forget'],
    afterWorkOnly: true,
    begin: async () => {
      known = await ground.register();
      await ground.sh(`mkdir -p /var/lib/slipway/proxy; touch '/etc/sudoers.d/90-slipway-${known.id}'
docker network create --label slipway=network slipway > /dev/null
docker create --name slipway-proxy --label slipway=proxy haproxy:3.0 > /dev/null 2>&1`);
      return { input: { serverId: known.id }, serverId: known.id };
    },
    check: async (how, what) => {
      assert.ok(known);
      const { id } = known;
      if (how === 'failed' && (await ground.read(known))) {
        const isLetIn = (await ground.sh(`grep -c slipway-${id} /root/.ssh/authorized_keys || true`)) === '1';
        if (isLetIn) await ground.succeeds(kind, { input: { serverId: id }, serverId: id });
        // Where we have given up our key already, it can still be forgotten.
        else await removeServerRecord(ground.ctx, ground.bench.workspaceId, id);
      }
      assert.equal(await ground.read(known), undefined, what);
      assert.equal(await left(), '', what);
    },
  });
});

const harden = 'server_harden';
/** Two that take no time; the second one can lock someone out, so a timer guards it. */
const chosen = ['sysctl', 'ssh_settings'] as const;

test('hardening that fails, repeats itself or is killed after any step’s work is ended by the next run, with nothing armed', async (t) => {
  const ground = await Ground.open(t);
  const known = await ground.register();
  const plan = async () => {
    const { bench, ctx } = ground;
    const made = await planHardening(ctx, bench.workspaceId, known.id, { steps: chosen });
    return { ...made, input: { serverId: known.id, plan: JSON.parse(JSON.stringify(made)) } };
  };
  await ground.stands({
    kind: harden,
    steps: ['ssh_settings'],
    afterWorkOnly: true,
    begin: async () => {
      await ground.sh(`rm -rf /etc/ssh/sshd_config.d/00-slipway* /etc/sysctl.d/zz-slipway.conf /var/lib/slipway
systemctl restart ssh`);
      const { input, steps } = await plan();
      assert.equal(steps.length, 2);
      return { input, serverId: known.id };
    },
    check: async (how, what) => {
      if (how === 'failed') {
        const { input } = await plan();
        await ground.succeeds(harden, { input, serverId: known.id });
      }
      assert.deepEqual((await plan()).steps, [], what);
      const seen = await ground.sh(
        'sshd -T | grep ^maxauthtries; ls /var/lib/slipway/hardening/armed 2>&1 || true',
      );
      assert.match(seen, /^maxauthtries [1-4]\nls: cannot access/, what);
    },
  });
});

test('the undoing of hardening stands the same', async (t) => {
  const ground = await Ground.open(t);
  const known = await ground.register();
  const { bench, ctx } = ground;
  const etc = 'find /etc -xdev -type f -exec sha256sum {} + | sort -k 2';
  const before = await ground.sh(etc);
  const undo = 'server_undo_hardening';
  let wish = { input: { serverId: known.id, runId: '' }, serverId: known.id };
  await ground.stands({
    kind: undo,
    steps: ['undo'],
    afterWorkOnly: true,
    begin: async () => {
      const plan = await planHardening(ctx, bench.workspaceId, known.id, { steps: chosen });
      const input = { serverId: known.id, plan: JSON.parse(JSON.stringify(plan)) };
      const runId = await ground.succeeds(harden, { input, serverId: known.id });
      wish = { input: { serverId: known.id, runId }, serverId: known.id };
      assert.notEqual(await ground.sh(etc), before);
      return wish;
    },
    check: async (how, what) => {
      if (how === 'failed') await ground.succeeds(undo, wish);
      const [one, other] = [new Set(before.split('\n')), new Set((await ground.sh(etc)).split('\n'))];
      assert.deepEqual([...one.symmetricDifference(other)], [], what);
    },
  });
});
