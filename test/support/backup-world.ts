/** Backups under kills: a server with databases of an environment, and processes of the service that share a folder. */
import assert from 'node:assert/strict';
import { globSync, rmSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { backupKind, restoreKind } from '../../src/areas/backups/backups.ts';
import { insertBackup } from '../../src/areas/backups/queries.ts';
import { insertRestore } from '../../src/areas/backups/restore/restore-queries.ts';
import { ensurePlacement } from '../../src/areas/environments/placement/placements.ts';
import { createServices } from '../../src/areas/services/create-services.ts';
import { ensureServices } from '../../src/areas/services/ensure-services.ts';
import { listedServices } from '../../src/areas/services/read-services.ts';
import { singleServer } from '../../src/engine/single-server/single-server.ts';
import { type BackupId, type BackupRestoreId, newId, type OperationId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { masterKeys } from './database.ts';
import { labCapacity, type TestLab } from './lab.ts';
import { failAtEachStep, killAtEachWrite, runEachStepTwice, type Trial } from './operation-trials.ts';
import { OperationBench } from './operations.ts';
import { temporaryFolder } from './postgres.ts';
import { connect, pinOf } from './remote.ts';
import { addServer, serversContext } from './servers-context.ts';
import { addEnvironment } from './service-scene.ts';

/** A server with a PostgreSQL and a Redis of an environment, and processes of the service that share a folder. */
export async function startBackupWorld(t: TestContext, lab: TestLab) {
  const server = await lab.fresh(t, 'provisioned');
  const bench = await OperationBench.open(t);
  const { db, workspaceId } = bench;
  const folder = temporaryFolder('backups');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const host = bench.host.bind(bench);
  bench.host = (env = {}) => host({ SLIPWAY_BACKUP_DIR: folder, ...env });
  const servers = await serversContext(t, { url: bench.databaseUrl, db }, masterKeys(7));
  const way = { host: server.about.address, hostKey: pinOf(server) };
  const { id: serverId, publicKey } = await addServer(servers, workspaceId, way);
  await db.run(sql`update servers set check_at = now() + interval '1 day' where id = ${serverId}`);
  await server.ssh(`echo '${publicKey}' >> /root/.ssh/authorized_keys`);
  const environmentId = await addEnvironment(db, workspaceId, serverId);
  const now = new Date();
  const place = await db.transaction((tx) => ensurePlacement(tx, workspaceId, environmentId, serverId, now));
  const wanted = [
    { kind: 'postgres', name: 'main', memoryMb: 128 },
    { kind: 'redis', name: 'cache', memoryMb: 64 },
  ] as const;
  await db.transaction((tx) => createServices(tx, workspaceId, environmentId, wanted, now));
  const fence = { scope: newId<OperationId>(), epoch: 1 };
  const target = singleServer({
    placement: place,
    remote: connect(t, server),
    capacity: labCapacity,
    fence,
    signal: t.signal,
  });
  await ensureServices({ db, clock: servers.clock, sealer: servers.sealer }, target);
  const services = await listedServices(db, workspaceId, environmentId);
  const idOf = (name: string) => services.find((each) => each.name === name)?.id ?? assert.fail(name);
  const [main, cache] = [idOf('main'), idOf('cache')];
  const psql = (text: string) => server.ssh(`docker exec -i slipway-${main} psql -U app -Atq app`, text);
  const redis = (words: string) =>
    server.ssh(`docker exec slipway-${cache} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli ${words}'`);
  return {
    server,
    bench,
    db,
    workspaceId,
    environmentId,
    serverId,
    main,
    folder,
    psql,
    set: async (value: string) => {
      await psql(`drop table if exists kept; create table kept as select '${value}' as value
        from generate_series(1, 5000);`);
      await redis(`set kept ${value}`);
    },
    get: async () =>
      `${(await psql("select string_agg(distinct value, '+') from kept")).trim()} ${(await redis('get kept')).trim()}`,
    /** Besides what was replaced and is kept on purpose. */
    leftovers: async () =>
      (
        await server.ssh(`ls -A /var/lib/slipway/backups 2>/dev/null
docker ps -a --format '{{.Names}}' | grep -e verify -e load
docker volume ls -q | grep -e verify -e load
systemctl list-units --all --plain --no-legend | grep -e slipway-verify -e slipway-load
docker exec slipway-${main} psql -U app -Atqc "select datname from pg_database where datname like 'new%'" app
true`)
      ).trim(),
    /** So that the disk does not fill with what each round puts aside. */
    dropReplaced: async () => {
      const names = await psql("select datname from pg_database where datname like 'old%'");
      for (const name of names.split('\n').filter(Boolean))
        await server.ssh(`docker exec slipway-${main} dropdb -U app --force ${name}`);
      await db.run(sql`delete from backup_replaced where workspace_id = ${workspaceId}`);
    },
    objects: () => globSync('**/*', { cwd: folder, withFileTypes: true }).filter((each) => each.isFile()),
    newBackup: async () => {
      const id = newId<BackupId>();
      const row = {
        id,
        environmentId,
        environmentName: 'production',
        serviceId: null,
        trigger: 'manual',
      } as const;
      const more = { verify: true, destinationId: null, operationId: null, requestedBy: null };
      await insertBackup(db, workspaceId, { ...row, ...more }, new Date());
      return id;
    },
  };
}

export type BackupWorld = Awaited<ReturnType<typeof startBackupWorld>>;

export async function madeBackup({ bench, newBackup, environmentId }: BackupWorld): Promise<BackupId> {
  const host = await bench.host();
  const backupId = await newBackup();
  const id = await bench.enqueue({ backupId, environmentId }, { kind: backupKind });
  const row = await bench.ended(id);
  assert.equal(row.state, 'succeeded', JSON.stringify(row.fault));
  await host.stop();
  return backupId;
}

export async function tryEverything(bench: OperationBench, trial: Trial): Promise<void> {
  await failAtEachStep(bench, trial);
  await runEachStepTwice(bench, trial);
  await killAtEachWrite(bench, trial);
}

/** A restore of that backup over other data: afterwards it is the old data or the new, in all places the same. */
export function restoreTrial(world: BackupWorld, backupId: BackupId): Trial {
  const { db, workspaceId, environmentId, serverId } = world;
  return {
    kind: restoreKind,
    aroundWorkOnly: true,
    steps: ['check', 'safety', 'load', 'stop', 'swap', 'start'],
    begin: async () => {
      await world.dropReplaced();
      await world.set('two');
      const restoreId = newId<BackupRestoreId>();
      const row = {
        id: restoreId,
        environmentId,
        source: 'backup',
        backupId,
        serviceId: null,
        serverId,
      } as const;
      await insertRestore(db, workspaceId, { ...row, status: 'queued' }, new Date());
      return { input: { restoreId, environmentId, safetyBackup: true }, serverId, queueKey: environmentId };
    },
    check: async (how, what) => {
      assert.equal(await world.get(), how === 'succeeded' ? 'one one' : 'two two', what);
      assert.equal(await world.leftovers(), '', what);
      const unfinished = await db.rows(sql`
      select id from backups where finished_at is null union all
      select id from backup_restores where finished_at is null`);
      assert.deepEqual(unfinished, [], what);
      const replaced = await db.rows(sql`select 1 from backup_replaced`);
      assert.equal(replaced.length, how === 'succeeded' ? 2 : 0, what);
    },
  };
}
