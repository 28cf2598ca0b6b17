import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { s3Keys, startTestS3 } from '../support/backups.ts';
import { type Body, type DeployScene, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab, type TestServer } from '../support/lab.ts';
import { plainApp, plainSettings, versionVariable } from '../support/plain-app.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

interface World {
  readonly scene: DeployScene;
  readonly server: TestServer;
  readonly environmentId: string;
  readonly path: string;
  readonly serviceIds: Readonly<Record<string, string>>;
  sql(statement: string): Promise<string>;
}

async function backedUp({ scene, path }: World, body: Body = {}): Promise<Body> {
  const { id } = await scene.call('POST', `${path}/trigger`, body);
  return until(async () => {
    const found = await scene.call('GET', `${path}/${id}`);
    return found.finishedAt === null ? undefined : found;
  }, 'the backup to end');
}

async function ended({ scene }: World, id: unknown): Promise<Body> {
  return until(async () => {
    const found = await scene.call('GET', `/operations/${id}`);
    return found.finishedAt === null ? undefined : found;
  }, 'the operation to end');
}

async function restored(world: World, backupId: unknown, body: Body = {}): Promise<Body> {
  const { id } = await world.scene.call('POST', `${world.path}/${backupId}/restore`, body);
  return ended(world, id);
}

async function imported(world: World, file: string | Buffer, serviceId: string): Promise<Body> {
  const form = new FormData();
  form.set('serviceId', serviceId);
  form.set('file', new Blob([new Uint8Array(Buffer.from(file))]), 'upload.sql');
  const answer = await fetch(`${world.scene.git.service.url}/api/v1${world.path}/import`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${world.scene.token}` },
  });
  const text = await answer.text();
  assert.equal(answer.status, 202, text);
  return ended(world, JSON.parse(text).id);
}

/** Every place that data is in, as one text. */
async function state({ server, sql, environmentId, serviceIds }: World): Promise<string> {
  const rows = await sql("select coalesce(string_agg(id || ':' || name, ',' order by id), '') from people");
  const keys = await server.ssh(redis(serviceIds, 'mget first second'));
  const files = await server.ssh(`cd ${volume(environmentId)} && find . -type f | sort | xargs -r sha256sum`);
  return [rows, keys, files].map((each) => each.trim()).join('\n');
}

function volume(environmentId: string): string {
  return `/var/lib/docker/volumes/slipway-${environmentId}-files/_data`;
}

function redis({ cache }: Readonly<Record<string, string>>, words: string): string {
  return `docker exec slipway-${cache} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli ${words}'`;
}

/** One bit of one byte. */
function damage(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** What backups may leave on a server while nothing is at work: no file, no container, no unit. */
async function leftovers({ server }: World): Promise<string> {
  return server.ssh(`ls -A /var/lib/slipway/backups 2>/dev/null
docker ps -a --format '{{.Names}}' | grep -e verify -e load
systemctl list-units --all --plain --no-legend | grep -e slipway-verify -e slipway-load
true`);
}

test('what is backed up is verified, survives everything that is done to the data, and comes back as it was', async (t) => {
  const scene = await startDeployScene(t, lab);
  const { server } = scene;
  const s3 = await startTestS3(t);
  const { environmentId, deployment } = await scene.deployed({
    files: plainApp(),
    settings: { ...plainSettings, volumes: [{ name: 'files', path: '/data' }] },
    variables: [versionVariable('one')],
    services: [
      { kind: 'postgres', name: 'main', memoryMb: 128 },
      { kind: 'redis', name: 'cache', memoryMb: 64 },
    ],
  });
  succeeded(deployment);
  const { items } = await scene.call('GET', `/environments/${environmentId}/services`);
  const serviceIds = Object.fromEntries(
    Object(items).map(({ name, id }: { name: string; id: string }) => [name, id]),
  );
  const { main = '', cache = '' } = serviceIds;
  const world: World = {
    scene,
    server,
    environmentId,
    serviceIds,
    path: `/environments/${environmentId}/backups`,
    sql: (statement) => server.ssh(`docker exec -i slipway-${main} psql -U app -Atq app`, statement),
  };
  await world.sql(`create table people (id int primary key, name text);
    insert into people select n, 'Zoë ' || n from generate_series(1, 2000) n;`);
  await server.ssh(redis(serviceIds, 'mset first 1 second 2'));
  await server.ssh(`cd ${volume(environmentId)} && mkdir sub && echo one > one && echo two > sub/two`);
  const before = await state(world);

  const backup = await backedUp(world);
  assert.equal(backup.status, 'succeeded', JSON.stringify(backup.fault));
  const parts = Object(backup.parts) as Body[];
  assert.deepEqual(
    parts.map(({ kind, verification }) => [kind, Object(verification).status, Object(verification).reason]),
    [
      ['postgres', 'verified', null],
      ['redis', 'verified', null],
      ['volume', 'verified', null],
    ],
  );
  assert.notEqual(backup.verifiedAt, null);
  assert.equal((await leftovers(world)).trim(), '');

  await t.test('destroyed data comes back, and what was there is kept beside', async () => {
    await world.sql('drop table people; create table other (n int);');
    await server.ssh(redis(serviceIds, 'flushall'));
    await server.ssh(`rm -r ${volume(environmentId)}/*`);
    const operation = await restored(world, backup.id);
    assert.equal(operation.status, 'succeeded', JSON.stringify(operation.fault));
    assert.equal(await state(world), before);
    assert.equal(await scene.page(environmentId), 'one');
    assert.equal((await leftovers(world)).trim(), '');
    const { items: all } = await scene.call('GET', world.path);
    assert.deepEqual(
      Object(all).map(({ trigger, status }: Body) => [trigger, status]),
      [
        ['pre_restore', 'succeeded'],
        ['manual', 'succeeded'],
      ],
    );
  });

  await t.test('a download is the dump that was stored', async () => {
    const [first] = parts;
    const url = `${scene.git.service.url}/api/v1${world.path}/${backup.id}/download?partId=${first?.id}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${scene.token}` } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(createHash('sha256').update(bytes).digest('hex'), first?.sha256);
  });

  await t.test(
    'a file is imported whole, and one with an error on its last line changes nothing',
    async () => {
      const good = await imported(world, "insert into people values (3000, 'imported');\n", main);
      assert.equal(good.status, 'succeeded', JSON.stringify(good.fault));
      assert.equal((await world.sql('select count(*) from people')).trim(), '2001');
      const now = await state(world);
      const bad = await imported(
        world,
        'delete from people;\ncreate table half (n int);\nselect nonsense;\n',
        main,
      );
      assert.equal(bad.status, 'failed');
      const { code, evidence } = Object(bad.fault);
      assert.equal(code, 'import_failed', JSON.stringify(bad.fault));
      assert.match(evidence, /3/);
      assert.match(evidence, /nonsense/);
      assert.equal(await state(world), now);
      assert.equal(await scene.page(environmentId), 'one');
      assert.equal((await leftovers(world)).trim(), '');
    },
  );

  await t.test(
    'whoever imports a file that prints what it finds learns no password of the database',
    async () => {
      const password = (await server.ssh(`docker exec slipway-${main} printenv POSTGRES_PASSWORD`)).trim();
      const says = `do $$ begin raise exception 'it is ${password}'; end $$;`;
      for (const file of ['\\! env >&2\nselect nonsense;\n', says]) {
        const { status, fault } = await imported(world, file, main);
        assert.deepEqual([status, Object(fault).code], ['failed', 'import_failed'], JSON.stringify(fault));
        assert.ok(!JSON.stringify(fault).includes(password), JSON.stringify(fault));
        if (file === says) assert.match(Object(fault).evidence, /it is \[secret\]/);
      }
      assert.equal((await leftovers(world)).trim(), '');
    },
  );

  await t.test(
    'what leaves for an S3 is encrypted, and is refused before anything is touched once it was damaged',
    async () => {
      const destination = {
        type: 's3',
        endpoint: s3.endpoint,
        region: 'us-east-1',
        bucket: 'backups',
        prefix: 'deep/er',
        ...s3Keys,
      };
      await scene.call('PATCH', `${world.path}/config`, { destination });
      const away = await backedUp(world, { serviceId: cache });
      assert.equal(away.status, 'succeeded', JSON.stringify(away.fault));
      assert.deepEqual(
        Object(away.parts).map(({ isEncrypted, kind }: Body) => [isEncrypted, kind]),
        [[true, 'redis']],
      );
      await server.ssh(redis(serviceIds, 'set first changed'));
      const back = await restored(world, away.id);
      assert.equal(back.status, 'succeeded', JSON.stringify(back.fault));
      assert.equal((await server.ssh(redis(serviceIds, 'get first'))).trim(), '1');
      await server.ssh(redis(serviceIds, 'set first again'));
      for (const { file, bytes } of s3.objects.list()) damage(file, Math.floor(bytes / 2));
      const refused = await restored(world, away.id, { safetyBackup: false });
      assert.deepEqual([refused.status, Object(refused.fault).code], ['failed', 'backup_damaged']);
      assert.equal((await server.ssh(redis(serviceIds, 'get first'))).trim(), 'again');
      assert.equal((await leftovers(world)).trim(), '');
    },
  );
});
