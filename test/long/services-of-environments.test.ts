import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ensureServices } from '../../src/areas/services/ensure-services.ts';
import { inspectServices } from '../../src/areas/services/inspect-services.ts';
import { listedServices } from '../../src/areas/services/read-services.ts';
import { deleteRemoved, markServicesDown, stopServices } from '../../src/areas/services/stop-services.ts';
import { addressIn, networkName, serviceContainer, serviceVolume } from '../../src/engine/placement.ts';
import type { ServiceId } from '../../src/ids.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { failsWith } from '../support/remote.ts';
import { type ServiceScene, serviceScene } from '../support/service-scene.ts';

const lab = await openLab();

const all = [
  { kind: 'postgres', name: 'main', memoryMb: 128 },
  { kind: 'mariadb', name: 'orders', memoryMb: 256 },
  { kind: 'redis', version: '8.0', memoryMb: 64 },
] as const;

interface Client {
  readonly image: string;
  readonly argv: (url: URL, statement: string) => string;
}

/** Statements of these tests have no quote in them. */
const clients: Readonly<Record<string, Client>> = {
  postgresql: { image: 'postgres:17', argv: ({ href }, text) => `psql '${href}' -Atc '${text}'` },
  mysql: {
    image: 'mariadb:11.8',
    argv: ({ hostname, username, password }, text) =>
      `mariadb -h ${hostname} -u ${username} -p${password} --skip-ssl -N -e '${text}' app`,
  },
  redis: { image: 'redis:8.0', argv: ({ href }, text) => `redis-cli --no-auth-warning -u '${href}' ${text}` },
};

/** As the application would: from a container on the environment's network, with the URL that it gets. */
function client(server: TestServer, scene: ServiceScene, network = networkName(scene.target.placement)) {
  return (url: string, statement: string) => {
    const parsed = new URL(url);
    const { image, argv } = clients[parsed.protocol.slice(0, -1)] ?? assert.fail(url);
    return server.trySsh(
      `timeout 20 docker run --rm --env PGCONNECT_TIMEOUT=5 --network ${network} --entrypoint '' ${image} ${argv(parsed, statement)} 2>&1`,
    );
  };
}

async function containerIds(server: TestServer): Promise<string[]> {
  const listed = await server.ssh('docker ps -q --no-trunc --filter label=slipway=service');
  return listed.split('\n').filter(Boolean).sort();
}

async function statuses({ ctx, target }: ServiceScene): Promise<Record<string, string>> {
  const { workspaceId, environmentId } = target.placement;
  const rows = await listedServices(ctx.db, workspaceId, environmentId);
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}

async function oneServer(t: TestContext) {
  const server = await lab.server(t, 's1');
  return { server, scene: await serviceScene(t, server) };
}

test('databases start, answer the application alone, keep their data, and a second run changes nothing', async (t) => {
  const { server, scene } = await oneServer(t);
  const { ctx, target } = scene;
  const asked = await scene.want({ services: [...all] });
  assert.ok(asked.operationId);
  const lines: string[] = [];
  assert.equal(await ensureServices(ctx, target, { log: (line) => lines.push(line) }), true);
  t.diagnostic(`first start: ${scene.roundTrips()} round trips`);
  assert.ok(lines.includes('fetching postgres:17'), lines.join('\n'));
  assert.deepEqual(await statuses(scene), { main: 'running', orders: 'running', redis: 'running' });

  const variables = await scene.variables(['DB_HOST', 'PGPASSWORD', 'MYSQL_PORT', 'AWS_REGION']);
  assert.deepEqual([...variables.keys()].sort(), [
    'DATABASE_URL',
    'DB_HOST',
    'MAIN_URL',
    'MARIADB_URL',
    'MYSQL_PORT',
    'MYSQL_URL',
    'ORDERS_URL',
    'PGPASSWORD',
    'POSTGRES_URL',
    'REDIS_URL',
  ]);
  const urlOf = (name: string) => variables.get(name) ?? assert.fail(name);
  assert.deepEqual([variables.get('DB_HOST'), variables.get('MYSQL_PORT')], ['main', '3306']);
  assert.equal(variables.get('PGPASSWORD'), new URL(urlOf('DATABASE_URL')).password);
  assert.match(urlOf('DATABASE_URL'), /^postgresql:\/\/app:[\w-]{32}@main:5432\/app$/);
  const run = client(server, scene);
  const writes: [string, string][] = [
    ['MAIN_URL', 'create table kept (n int); insert into kept values (41)'],
    ['ORDERS_URL', 'create table kept (n int); insert into kept values (41)'],
    ['REDIS_URL', 'set kept 41'],
  ];
  for (const [name, statement] of writes) {
    const { code, stdout } = await run(urlOf(name), statement);
    assert.equal(code, 0, `${name}: ${stdout}`);
  }
  const assertKept = async (when: string) => {
    for (const [name] of writes) {
      const { stdout } = await run(urlOf(name), name === 'REDIS_URL' ? 'get kept' : 'select n from kept');
      assert.equal(stdout.trim(), '41', `${name} ${when}`);
    }
  };
  await assertKept('at once');

  await t.test('a wrong password is refused', async () => {
    for (const [name] of writes) {
      const url = urlOf(name).replace(new URL(urlOf(name)).password, 'wrong');
      const { stdout } = await run(url, name === 'REDIS_URL' ? 'get kept' : 'select 1');
      assert.match(stdout, /password authentication failed|Access denied|NOAUTH|WRONGPASS/, name);
    }
  });

  await t.test('no one outside of the network reaches them, and nothing is published', async () => {
    const outside = client(server, scene, 'bridge');
    const reachable = urlOf('MAIN_URL').replace('@main:', `@${addressIn(target.placement, 2)}:`);
    assert.equal((await run(reachable, 'select 1')).code, 0, 'the address is the right one');
    assert.notEqual((await outside(reachable, 'select 1')).code, 0);
    assert.equal((await server.ssh('docker ps --format "{{.Ports}}" | grep -c 0.0.0.0 || true')).trim(), '0');
  });

  await t.test('no secret is in the list of processes, or in a label', async () => {
    const [processes, labels] = await Promise.all([
      server.ssh('ps axww -o args'),
      server.ssh('docker ps -a --no-trunc --format "{{json .}}"'),
    ]);
    assert.match(processes, /redis-server/);
    for (const name of ['MAIN_URL', 'ORDERS_URL', 'REDIS_URL']) {
      const { password } = new URL(urlOf(name));
      assert.ok(!processes.includes(password) && !labels.includes(password), name);
    }
  });

  const before = await containerIds(server);
  scene.roundTrips();
  assert.equal(await ensureServices(ctx, target), false);
  assert.equal(scene.roundTrips(), 1);
  assert.deepEqual(await containerIds(server), before);

  await t.test('they are closed off: limits, capabilities, no new privileges', async () => {
    const format =
      '{{.HostConfig.Memory}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.RestartPolicy.Name}}';
    const shown = await server.ssh(`docker inspect --format '${format}' ${before.join(' ')}`);
    for (const line of shown.trim().split('\n'))
      assert.match(line, /^\d{8,} \[ALL\] \[no-new-privileges\] unless-stopped$/);
  });

  await t.test('another limit, or a newer version, is a new container on the same data', async () => {
    await scene.want({
      services: [{ ...all[0], memoryMb: 160 }, all[1], { ...all[2], version: '8' }],
    });
    assert.equal(await ensureServices(ctx, target), true);
    const after = await containerIds(server);
    assert.deepEqual(after.filter((id) => before.includes(id)).length, 1, 'only the changed ones');
    await assertKept('on new containers');
  });

  await t.test('a restart of Docker loses nothing, and is waited for', async () => {
    await server.ssh('systemctl restart docker');
    await ensureServices(ctx, target);
    assert.deepEqual(await statuses(scene), { main: 'running', orders: 'running', redis: 'running' });
    await assertKept('after a restart of Docker');
  });

  await t.test('one that was stopped or removed by hand is put right', async () => {
    const { services } = await inspectServices(ctx, target);
    const [main, orders] = services.map(({ service }) => serviceContainer(service.id));
    await server.ssh(`docker stop ${main} ${orders}`);
    const codes = await server.ssh(`docker inspect --format '{{.State.ExitCode}}' ${main} ${orders}`);
    assert.equal(codes.trim(), '0\n0', 'each has written everything down and ended by itself');
    await server.ssh(`docker rm ${orders}`);
    const seen = await inspectServices(ctx, target);
    assert.deepEqual(
      seen.services.map(({ isHealthy, status }) => [isHealthy, status]),
      [
        [false, 'exited'],
        [false, null],
        [true, 'running'],
      ],
    );
    assert.equal(await ensureServices(ctx, target), true);
    await assertKept('after they were put right');
  });

  await t.test('stopped ones stay stopped, and start with their data', async () => {
    await stopServices(ctx, target);
    assert.deepEqual(await statuses(scene), { main: 'stopped', orders: 'stopped', redis: 'stopped' });
    await server.ssh('systemctl restart docker');
    assert.deepEqual(await containerIds(server), []);
    await ensureServices(ctx, target);
    await assertKept('after a stop');
  });
});

test('on Debian 12 with its older Docker it is the same', async (t) => {
  const server = await lab.fresh(t, 'bookworm');
  const scene = await serviceScene(t, server);
  const { ctx, target } = scene;
  await scene.want({ services: [{ kind: 'postgres' }, { kind: 'redis', version: '8.0' }] });
  await ensureServices(ctx, target);
  const run = client(server, scene);
  const variables = await scene.variables();
  assert.equal((await run(variables.get('DATABASE_URL') ?? '', 'select 41')).stdout.trim(), '41');
  assert.equal((await run(variables.get('REDIS_URL') ?? '', 'ping')).stdout.trim(), 'PONG');
  scene.roundTrips();
  assert.equal(await ensureServices(ctx, target), false);
  assert.equal(scene.roundTrips(), 1);
});

test('a removed service keeps its data until that is deleted, and takes it up again', async (t) => {
  const { server, scene } = await oneServer(t);
  const { ctx, target } = scene;
  const redis = { kind: 'redis' } as const;
  const { services } = await scene.want({ services: [redis, { kind: 'redis', name: 'cache' }] });
  await ensureServices(ctx, target);
  const run = client(server, scene);
  const urlNow = async () => (await scene.variables()).get('REDIS_URL') ?? assert.fail();
  const url = await urlNow();
  assert.equal((await run(url, 'set kept 41')).code, 0);
  const [id] = services.map((each) => each.id);
  const volumes = () => server.ssh('docker volume ls -q');
  const volume = serviceVolume(id as ServiceId);

  await scene.want({ services: [{ kind: 'redis', name: 'cache' }], remove: ['redis'] });
  await ensureServices(ctx, target);
  await deleteRemovedUnlessWanted(scene, false);
  assert.equal((await containerIds(server)).length, 1, 'its container is gone');
  assert.match(await volumes(), new RegExp(volume));
  const kept = await listedServices(ctx.db, target.placement.workspaceId, target.placement.environmentId);
  assert.deepEqual(
    kept.map(({ name, hasData, removedAt, status }) => [name, hasData, removedAt !== null, status]),
    [
      ['redis', true, true, 'removed'],
      ['cache', true, false, 'running'],
    ],
  );
  await assert.rejects(
    scene.want({ services: [{ ...redis, version: '7.4' }] }),
    failsWith('service_version_refused', /may not read/),
  );

  const again = await scene.want({ services: [{ kind: 'redis', name: 'cache' }, redis] });
  assert.equal(again.services[0]?.id, id, 'the same row');
  await ensureServices(ctx, target);
  assert.equal(await urlNow(), url, 'the same credentials');
  assert.equal((await run(url, 'get kept')).stdout.trim(), '41');

  await scene.want({ services: [{ kind: 'redis', name: 'cache' }], remove: ['redis'], deleteData: true });
  await ensureServices(ctx, target);
  await deleteRemovedUnlessWanted(scene, true);
  assert.doesNotMatch(await volumes(), new RegExp(volume));
  assert.deepEqual(Object.keys(await statuses(scene)), ['cache']);

  await target.removeServices({ deleteData: false });
  await markServicesDown(ctx, target.placement, { deleteData: false });
  assert.deepEqual(await containerIds(server), []);
  assert.match(await volumes(), /slipway-/);
  await target.removeServices({ deleteData: true });
  await markServicesDown(ctx, target.placement, { deleteData: true });
  assert.doesNotMatch(await volumes(), /slipway-/);
});

async function deleteRemovedUnlessWanted({ ctx, target }: ServiceScene, isWanted: boolean): Promise<void> {
  if (isWanted) assert.equal((await deleteRemoved(ctx, target)).length, 1);
}

test('what cannot start says why, keeps its data, and leaves the others running', async (t) => {
  const { server, scene } = await oneServer(t);
  const { ctx, target } = scene;
  const { services } = await scene.want({ services: [{ kind: 'postgres' }, { kind: 'redis' }] });
  const volume = serviceVolume(services[0]?.id as ServiceId);
  await server.ssh(
    `docker volume create ${volume} && docker run --rm -v ${volume}:/d --entrypoint sh redis:8 -c "echo 12 > /d/PG_VERSION"`,
  );
  await assert.rejects(ensureServices(ctx, target), failsWith('service_unhealthy', /postgresql\.conf/));
  assert.deepEqual(await statuses(scene), { postgres: 'failed', redis: 'running' });
  const { workspaceId, environmentId } = target.placement;
  const [failed] = await listedServices(ctx.db, workspaceId, environmentId);
  assert.equal(failed?.problem?.code, 'service_unhealthy');

  await t.test('an image that cannot be had leaves the running one alone', async () => {
    await scene.want({
      services: [{ kind: 'redis' }, { kind: 'postgres', name: 'other', version: '16' }],
      remove: ['postgres'],
    });
    const before = await containerIds(server);
    await assert.rejects(ensureServices(ctx, target), failsWith('remote_failed'));
    assert.ok((await containerIds(server)).some((id) => before.includes(id)));
    assert.equal((await statuses(scene)).other, 'failed');
    assert.equal((await statuses(scene)).redis, 'running');
    const back = await scene.want({
      services: [{ kind: 'redis' }, { kind: 'postgres', name: 'other', version: '17' }],
    });
    assert.equal(back.services.at(-1)?.version, '17', 'no data yet: any version will do');
  });
});
