import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ask } from '../../src/adapters/docker/ask.ts';
import { ensureContainerGroup } from '../../src/adapters/docker/container-group.ts';
import { createContainer, removeContainer, startContainer } from '../../src/adapters/docker/containers.ts';
import { createNetwork } from '../../src/adapters/docker/networks.ts';
import {
  LiveLogs,
  type LiveLogsContext,
  type LogsInput,
  mostViewers,
} from '../../src/areas/environments/live/live-logs.ts';
import {
  type DeploymentId,
  type EnvironmentId,
  newId,
  type ProjectId,
  type WorkspaceId,
} from '../../src/ids.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { Secret } from '../../src/secret.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys, migratedDatabase, newWorkspace } from '../support/database.ts';
import { labCapacity, openLab, type TestServer } from '../support/lab.ts';
import { connect, failsWith, pinOf } from '../support/remote.ts';
import { addServer, serversContext } from '../support/servers-context.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const image = 'debian:bookworm-slim';
const canary = 'hunter2-canary-hunter2';
const everyMs = 1_000;

interface Heard {
  readonly kind: string;
  readonly data: Record<string, unknown>;
}

/** One environment on a lab server, and containers of it made through the Docker adapter. */
class Scene {
  readonly ctx: LiveLogsContext;
  readonly server: TestServer;
  readonly remote: Remote;
  readonly workspaceId: WorkspaceId;
  readonly environmentId = newId<EnvironmentId>();
  readonly logs: LiveLogs;

  private constructor(ctx: LiveLogsContext, server: TestServer, remote: Remote, workspaceId: WorkspaceId) {
    this.ctx = ctx;
    this.server = server;
    this.remote = remote;
    this.workspaceId = workspaceId;
    this.logs = new LiveLogs(ctx, everyMs);
  }

  static async open(t: TestContext): Promise<Scene> {
    const server = await lab.fresh(t, 'provisioned');
    const own = await migratedDatabase(t);
    const servers = await serversContext(t, own, masterKeys(1));
    const { db, clock, log } = servers;
    const ctx = { db, clock, log, servers, secretsOf: async () => [new Secret(canary)] };
    const workspaceId = await newWorkspace(own.db);
    const { about } = server;
    const known = await addServer(servers, workspaceId, { host: about.address, hostKey: pinOf(server) });
    const remote = connect(t, server);
    await remote.script('cat >> /root/.ssh/authorized_keys', [], { input: `${known.publicKey}\n` });
    await remote.output(['docker', 'pull', '-q', image], { timeoutMs: 120_000 });
    const scene = new Scene(ctx, server, remote, workspaceId);
    const projectId = newId<ProjectId>();
    const now = new Date();
    await own.db.run(sql`
      insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, root_directory, status,
        analysis_status, created_at, updated_at)
      values (${workspaceId}, ${projectId}, 'Shop', 'shop', 'url', 'shop', 'https://example.com/shop', '.', 'active',
        'succeeded', ${now}, ${now})`);
    await own.db.run(sql`
      insert into environments (workspace_id, id, project_id, name, slug, branch, server_id, status, created_at, updated_at)
      values (${workspaceId}, ${scene.environmentId}, ${projectId}, 'production', 'shop', 'main', ${known.id}, 'idle',
        ${now}, ${now})`);
    t.after(() => scene.logs.stop());
    return scene;
  }

  /** Its name. The script is run by the image's shell. */
  async start(process: string, script: string, restart: 'no' | 'unless-stopped' = 'no'): Promise<string> {
    const deployment = newId<DeploymentId>();
    const name = `slipway-${deployment}-${process}-1`;
    const network = `slipway-${this.environmentId}`;
    const labels = {
      slipway: 'app',
      'slipway.workspace': this.workspaceId,
      'slipway.environment': this.environmentId,
    };
    await ask(this.remote, [
      createNetwork({ name: network, subnet: '198.18.0.0/26', gateway: '198.18.0.1', labels }),
      createContainer({
        name,
        image,
        network,
        restart,
        stopSeconds: 1,
        memoryMb: 64,
        cpus: 0.9,
        cgroupParent: await ensureContainerGroup(this.remote, labCapacity, AbortSignal.timeout(60_000)),
        labels: {
          ...labels,
          'slipway.process': process,
          'slipway.replica': '1',
          'slipway.deployment': deployment,
        },
        environment: new Map([['KEY', new Secret(canary)]]),
        command: ['sh', '-c', script],
      }),
      startContainer(name),
    ]);
    return name;
  }

  async watch(t: TestContext, wish: Partial<LogsInput> = {}) {
    const heard: Heard[] = [];
    const gone = new AbortController();
    const follow = await this.logs.open(this.workspaceId, this.environmentId, {
      tail: 100,
      process: undefined,
      ...wish,
    });
    const over = follow((kind, data) => void heard.push({ kind, data: { ...data } }), gone.signal);
    const leave = async () => {
      gone.abort();
      await over;
    };
    t.after(leave);
    const lines = () => heard.filter(({ kind }) => kind === 'line').map(({ data }) => String(data.line));
    const has = (line: string) => until(() => lines().includes(line) || undefined, `the line ${line}`);
    return { heard, lines, has, leave, over };
  }

  console(script: string) {
    return lab.client.console(this.server.about.name, 'sh', '-euc', script);
  }
}

/** What they count: nothing twice, nothing left out. */
function assertCounted(lines: readonly string[], word: string): void {
  const counts = lines
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => Number(line.split(' ')[1]));
  assert.deepEqual(
    counts,
    counts.map((_, index) => (counts[0] ?? 0) + index),
  );
}

test('the last lines come first, then each line as it is printed, without secrets', async (t) => {
  const scene = await Scene.open(t);
  const script = `for i in $(seq 40); do echo "old $i"; done; echo "trouble" >&2
    head -c 16375 /dev/zero | tr '\\0' x; echo " $KEY."
    echo "base64 $(printf %s "$KEY" | base64)"
    i=0; while :; do i=$((i+1)); echo "live $i"; sleep 0.2; done`;
  const name = await scene.start('web', script);
  await scene.start('worker', 'while :; do echo work; sleep 1; done');
  const all = await scene.watch(t, { tail: 1000 });
  await all.has('live 20');
  assert.equal(all.heard[0]?.kind, 'state');
  const lines = all.lines();
  assert.equal(lines.filter((line) => line.startsWith('old ')).length, 40);
  assertCounted(lines, 'live');
  assert.doesNotMatch(JSON.stringify(all.heard), /hunter2|aHVudGVyMi1jYW5hcnktaHVudGVyM/);
  assert.ok(
    lines.some((line) => /^x{9,} ?\[secret\]\.$|^\[secret\]\.$/.test(line)),
    'the long line, without its secret',
  );
  assert.ok(lines.some((line) => line.startsWith('base64 [secret]')));
  const trouble = all.heard.find(({ data }) => data.line === 'trouble')?.data;
  const { at, serverId: where, ...rest } = trouble ?? {};
  assert.match(String(at), /^\d{4}-.*Z$/);
  assert.match(String(where), /^[0-9a-f-]{36}$/);
  assert.deepEqual(rest, { container: name, process: 'web', replica: 1, stream: 'stderr', line: 'trouble' });
  assert.ok(lines.includes('work'));

  const some = await scene.watch(t, { tail: 3, process: 'web' });
  await until(() => some.lines().length >= 6 || undefined, 'its lines');
  assert.ok(!some.lines().includes('work'));
  assertCounted(some.lines(), 'live');
  const shown = await scene.logs.containers(scene.workspaceId, scene.environmentId);
  const [web, worker] = shown.containers;
  assert.deepEqual([shown.containers.length, web?.name, worker?.process], [2, name, 'worker']);
  assert.deepEqual(
    [web?.state, web?.restarts, web?.exitCode, web?.isOutOfMemory],
    ['running', 0, null, false],
  );
  assert.equal(web?.memoryLimitBytes, 64 * 1024 * 1024);
  assert.ok((web?.memoryBytes ?? 0) > 0 && name.includes(web?.deploymentId ?? '-'));

  // A broken connection leaves no gap and tells nothing twice.
  const before = all.lines().length;
  const { serverId } = (await scene.ctx.db.one<{ serverId: never }>(
    sql`select server_id as "serverId" from environments where id = ${scene.environmentId}`,
  )) ?? { serverId: undefined };
  assert.ok(serverId);
  scene.ctx.servers.pool.drop(serverId);
  await until(() => all.lines().length > before + 30 || undefined, 'lines afterwards');
  assertCounted(all.lines(), 'live');
  assertCounted(some.lines(), 'live');

  for (const each of [all, some]) await each.leave();
  const left = () => scene.console('pgrep -x perl || :');
  await until(async () => (await left()).stdout.trim() === '' || undefined, 'nothing of it to be left');
});

test('new containers are followed, crashes are told, and an end of the environment ends it', async (t) => {
  const scene = await Scene.open(t);
  const first = await scene.start('web', 'echo first; sleep 1000');
  const watching = await scene.watch(t);
  await watching.has('first');
  await scene.start('web', 'echo second; sleep 1000');
  await watching.has('second');
  await ask(scene.remote, [removeContainer(first)]);
  const states = () =>
    watching.heard.filter(({ kind }) => kind === 'state').map(({ data }) => JSON.stringify(data.containers));
  await until(() => !states().at(-1)?.includes(first) || undefined, 'the first to be gone');

  await scene.start('crash', 'echo "begin $$"; sleep 0.5; exit 3', 'unless-stopped');
  const restarts = () => Number(/"restarts":([1-9]\d*)/.exec(states().at(-1) ?? '')?.[1] ?? 0);
  await until(() => restarts() >= 3 || undefined, 'three restarts');
  await until(() => states().some((each) => each.includes('"exitCode":3')) || undefined, 'its exit code');
  const begun = () => watching.heard.filter(({ data }) => String(data.line).startsWith('begin'));
  await until(() => begun().length >= 3 || undefined, 'the lines of three starts');
  const times = begun().map(({ data }) => data.at);
  assert.equal(new Set(times).size, times.length, 'no line twice');

  await scene.start('eater', 'x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo "$x" | wc -c');
  await until(() => states().at(-1)?.includes('"isOutOfMemory":true') || undefined, 'its end for memory');

  await scene.ctx.db.run(sql`delete from environments where id = ${scene.environmentId}`);
  await watching.over;
  assert.equal(watching.heard.at(-1)?.data.code, 'not_found');
  await assert.rejects(scene.watch(t), failsWith('not_found'));
});

test('a server that cannot be reached is told, and followed again once it can be', async (t) => {
  const scene = await Scene.open(t);
  await scene.start('web', 'i=0; while :; do i=$((i+1)); echo "live $i"; sleep 0.5; done');
  const watching = await scene.watch(t);
  await watching.has('live 5');
  await scene.console('iptables -I INPUT -p tcp --dport 22 -j REJECT --reject-with tcp-reset');
  const problem = () => watching.heard.find(({ kind }) => kind === 'problem');
  await until(() => problem(), 'the problem');
  assert.match(String(problem()?.data.code), /^(remote_|port_)/);
  await scene.console('iptables -D INPUT 1');
  const from = watching.lines().length;
  await until(() => watching.lines().length > from + 5 || undefined, 'lines again');
  assertCounted(watching.lines(), 'live');
  assert.equal(watching.heard.filter(({ kind }) => kind === 'problem').length <= 3, true);
});

test('so many may watch, and no more; a stranger sees nothing', async (t) => {
  const scene = await Scene.open(t);
  await scene.start('web', 'echo hello; sleep 1000');
  const all = [];
  for (let count = 0; count < mostViewers; count += 1) all.push(await scene.watch(t));
  for (const each of all) await each.has('hello');
  await assert.rejects(scene.watch(t), failsWith('rate_limited'));
  await all[0]?.leave();
  const late = await scene.watch(t);
  await late.has('hello');
  const channels = async () => (await scene.console('pgrep -x -c perl || :')).stdout.trim();
  await until(async () => (await channels()) === '1', 'one channel for all of them');
  const stranger = newId<WorkspaceId>();
  const wish = { tail: 1, process: undefined };
  await assert.rejects(scene.logs.open(stranger, scene.environmentId, wish), failsWith('not_found'));
  await assert.rejects(scene.logs.containers(stranger, scene.environmentId), failsWith('not_found'));
  scene.logs.stop();
  await late.over;
});
