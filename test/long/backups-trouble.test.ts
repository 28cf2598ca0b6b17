import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { cleanUp } from '../../src/areas/backups/schedule/clean-up.ts';
import type { WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { s3Keys, startTestS3 } from '../support/backups.ts';
import { type Body, type DeployScene, startDeployScene } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp } from '../support/plain-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

async function ended(scene: DeployScene, path: string, what: string): Promise<Body> {
  const look = async () => {
    const found = await scene.call('GET', path);
    return found.finishedAt === null ? undefined : found;
  };
  return until(look, what);
}

/** The fault that a restore of it ends in. */
async function refusal(scene: DeployScene, path: string, backupId: unknown): Promise<string> {
  const { id } = await scene.call('POST', `${path}/${backupId}/restore`, { safetyBackup: false });
  const operation = await ended(scene, `/operations/${id}`, 'the restore to end');
  assert.equal(operation.status, 'failed');
  return String(Object(operation.fault).code);
}

test('every trouble has a fault of its own, is told, and leaves the data as it was', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { server } = scene;
  const { db, sealer } = scene.git.service.app.store;
  const s3 = await startTestS3(t);
  const { environmentId } = await scene.deployed({ files: plainApp(), deploy: false });
  const path = `/environments/${environmentId}/backups`;
  const services = [{ kind: 'postgres', name: 'main', memoryMb: 128 }];
  const started = await scene.call('POST', `/environments/${environmentId}/services`, { services });
  const operation = await ended(scene, `/operations/${started.operationId}`, 'the services to start');
  assert.equal(operation.status, 'succeeded', JSON.stringify(operation.fault));
  const main = String(Object(started.services)[0].id);
  const psql = (text: string) => server.ssh(`docker exec -i slipway-${main} psql -U app -Atq app`, text);
  await psql(`create table kept as select n, md5(n::text) as sum from generate_series(1, 300000) n;`);
  const sums = () => psql("select count(*) || md5(string_agg(sum, '' order by n)) from kept");
  const before = await sums();
  const destination = {
    type: 's3',
    endpoint: s3.endpoint,
    region: 'us-east-1',
    bucket: 'backups',
    prefix: '',
    ...s3Keys,
  };
  await scene.call('PATCH', `${path}/config`, { destination });

  const backup = async () => {
    const { id } = await scene.call('POST', `${path}/trigger`, {});
    return ended(scene, `${path}/${id}`, 'the backup to end');
  };
  const told = async ({ id }: Body) => {
    const rows = await db.rows<{ kind: string; code: string | null }>(sql`
      select kind, data->'fault'->>'code' as code from notices where subject_id = ${String(id)} order by at`);
    return rows.map(({ kind, code }) => [kind, code]);
  };
  const failed = async (code: string) => {
    const made = await backup();
    assert.deepEqual([made.status, Object(made.fault).code], ['failed', code], JSON.stringify(made.fault));
    assert.deepEqual(await told(made), [['backup_failed', code]]);
    assert.deepEqual(
      [s3.objects.list().length, s3.objects.uploads().length],
      [0, 0],
      'nothing is left there',
    );
  };

  await t.test('a destination that is full', async () => {
    s3.faults.set({ kind: 'quota', bytes: 1_000_000 });
    await failed('storage_full');
    s3.faults.clear();
  });

  await t.test('a destination that refuses', async () => {
    s3.faults.set({ kind: 'refuse' });
    const made = await backup();
    assert.deepEqual([made.status, Object(made.fault).code], ['failed', 'storage_refused']);
    assert.deepEqual(await told(made), [['backup_failed', 'storage_refused']]);
    s3.faults.clear();
    await cleanUp(scene.git.service.app.contexts.backups);
    assert.deepEqual([s3.objects.list().length, s3.objects.uploads().length], [0, 0], 'cleared away later');
  });

  await t.test('a database that is down', async () => {
    await server.ssh(`docker stop -t 5 slipway-${main}`);
    await failed('database_down');
    await server.ssh(`docker start slipway-${main}`);
    await until(async () => (await psql('select 1').catch(() => '')) !== '', 'the database');
  });

  await t.test('an S3 that breaks off in the middle is gone on with', async () => {
    s3.faults.set({ kind: 'break_upload', afterBytes: 500_000, times: 2 });
    const made = await backup();
    assert.equal(made.status, 'succeeded', JSON.stringify(made.fault));
    assert.notEqual(made.verifiedAt, null);
    assert.deepEqual(await told(made), [['backup_recovered', null]]);
  });

  await t.test('a server without room to try it says so, and keeps the backup', async () => {
    // A small disk of its own: that of the lab's servers is the machine's, and other tests need theirs.
    await server.ssh('mount -t tmpfs -o size=200m,mode=700 tmpfs /var/lib/slipway/backups');
    try {
      const made = await backup();
      assert.equal(made.status, 'succeeded', JSON.stringify(made.fault));
      const { status, reason } = Object(Object(made.parts)[0].verification);
      assert.equal(status, 'unverifiable');
      assert.match(reason, /MB|room|disk/i);
      assert.deepEqual(await told(made), [['backup_failed', 'backup_unverified']]);
    } finally {
      await server.ssh('umount /var/lib/slipway/backups');
    }
  });

  const good = await backup();
  assert.equal(good.status, 'succeeded', JSON.stringify(good.fault));
  const name = String(Object(good.parts)[0].id);
  const { file, bytes } = s3.objects.list().find(({ key }) => key.includes(name)) ?? assert.fail('no object');
  const whole = readFileSync(file);

  await t.test(
    'a dump that was damaged, cut short, lost, of another version or of another key is refused',
    async () => {
      const damaged = Buffer.from(whole);
      damaged[Math.floor(bytes / 2)] = (damaged[Math.floor(bytes / 2)] ?? 0) ^ 1;
      writeFileSync(file, damaged);
      assert.equal(await refusal(scene, path, good.id), 'backup_damaged');
      writeFileSync(file, whole);
      truncateSync(file, bytes - 1_000);
      assert.match(await refusal(scene, path, good.id), /backup_damaged|storage_failed|storage_unreachable/);
      writeFileSync(file, whole);
      await db.run(sql`update backup_parts set version = '16' where id = ${name}`);
      assert.equal(await refusal(scene, path, good.id), 'backup_incompatible');
      await db.run(sql`update backup_parts set version = '17' where id = ${name}`);
      const row = await db.one<{ workspaceId: WorkspaceId; sealed: Buffer }>(sql`
      select workspace_id as "workspaceId", key_sealed as sealed from backup_parts where id = ${name}`);
      const other = await db.one<{ id: string; sealed: Buffer }>(sql`
      select id, key_sealed as sealed from backup_parts where id <> ${name} and key_sealed is not null limit 1`);
      assert.ok(row && other && sealer);
      // The key of another part, sealed for this one.
      const place = (id: string) =>
        ({
          workspaceId: row.workspaceId,
          table: 'backup_parts',
          row: id,
          column: 'key_sealed',
        }) as const;
      const key = await sealer.open(db, place(other.id), other.sealed);
      await db.run(sql`
      update backup_parts set key_sealed = ${await sealer.seal(db, place(name), key)} where id = ${name}`);
      assert.equal(await refusal(scene, path, good.id), 'backup_key_mismatch');
      await db.run(sql`update backup_parts set key_sealed = ${row.sealed} where id = ${name}`);
      assert.equal(await sums(), before);
    },
  );
  assert.equal(
    (
      await server.ssh(
        'ls -A /var/lib/slipway/backups; docker ps -a --format "{{.Names}}" | grep -c try || true',
      )
    ).trim(),
    '0',
  );
});
