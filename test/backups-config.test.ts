import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jitterSeconds } from '../src/areas/backups/schedule/schedule-times.ts';
import { startDueBackups } from '../src/areas/backups/schedule/start-due-backups.ts';
import { day, hour, minute } from '../src/clock.ts';
import { sql } from '../src/store/sql.ts';
import { type BackupScene, s3Keys, startBackupScene, startTestS3 } from './support/backups.ts';
import { setOperationLimit } from './support/operations.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';

test('a config is changed in parts; what is not named stays, and what cannot be kept is refused by its field', async () => {
  const { ask, path } = await startBackupScene();
  const first = await ask('GET', `${path}/config`);
  assert.deepEqual(first.body, {
    enabled: false,
    cron: '0 3 * * *',
    timezone: 'UTC',
    verify: true,
    nextRunAt: null,
    lastRunAt: null,
    retention: { keepLast: 7, keepDays: 30 },
    destination: { type: 'local' },
  });
  const wish = { enabled: true, cron: '30 2 * * *', timezone: 'Europe/Berlin', retention: { keepLast: 3 } };
  const second = await ask('PATCH', `${path}/config`, wish);
  assert.equal(second.status, 200, second.text);
  assert.deepEqual(second.body.retention, { keepLast: 3, keepDays: 30 });
  const third = await ask('PATCH', `${path}/config`, { verify: false, retention: { keepDays: 5 } });
  const { nextRunAt, ...rest } = third.body;
  assert.equal(nextRunAt, second.body.nextRunAt, 'a run that is due is not put off');
  assert.deepEqual(rest, {
    enabled: true,
    cron: '30 2 * * *',
    timezone: 'Europe/Berlin',
    verify: false,
    lastRunAt: null,
    retention: { keepLast: 3, keepDays: 5 },
    destination: { type: 'local' },
  });
  const daily = await ask('PATCH', `${path}/config`, { cron: '@daily' });
  assert.deepEqual([daily.status, daily.body.cron], [200, '@daily'], daily.text);
  const off = await ask('PATCH', `${path}/config`, { enabled: false });
  assert.equal(off.body.nextRunAt, null);
  const wrong: readonly (readonly [body: object, path: string])[] = [
    [{ cron: '* * * * *' }, 'cron'],
    [{ cron: 'every day at 3' }, 'cron'],
    [{ timezone: 'Moon/Base' }, 'timezone'],
    [{ retention: { keepLast: 0 } }, 'retention.keepLast'],
    [{ retention: { keepDays: 1.5 } }, 'retention.keepDays'],
    [{ destination: { type: 'ftp' } }, 'destination.type'],
    [{ destination: { type: 'local', folder: '/etc' } }, 'destination.folder'],
    [{ every: 'day' }, 'every'],
  ];
  for (const [body, field] of wrong) assertInvalid(await ask('PATCH', `${path}/config`, body), field);
  assert.deepEqual((await ask('GET', `${path}/config`)).body, off.body, 'a refusal changes nothing');
});

test('an S3 is tried before it is taken; its secret is sealed, never shown, and need not be said again', async (t) => {
  const { ask, path, service, workspaceId } = await startBackupScene();
  const s3 = await startTestS3(t);
  const place = { type: 's3', endpoint: s3.endpoint, region: 'us-east-1', bucket: 'backups', prefix: 'a' };
  const { accessKeyId, secretAccessKey } = s3Keys;
  const patch = (destination: object) => ask('PATCH', `${path}/config`, { destination });
  assertInvalid(await patch({ ...place, accessKeyId }), 'destination.secretAccessKey');
  assertProblem(await patch({ ...place, accessKeyId, secretAccessKey: 'wrong' }), 422, 'storage_refused');
  assertProblem(await patch({ ...place, bucket: 'none', ...s3Keys }), 422, 'storage_refused');
  assert.deepEqual((await ask('GET', `${path}/config`)).body.destination, { type: 'local' });
  const taken = await patch({ ...place, ...s3Keys });
  assert.equal(taken.status, 200, taken.text);
  assert.deepEqual(taken.body.destination, { ...place, accessKeyId });
  assert.equal(s3.objects.list().length, 0, 'what was tried is gone');
  const again = await patch({ ...place, prefix: 'b', accessKeyId });
  assert.deepEqual(again.body.destination, { ...place, prefix: 'b', accessKeyId });
  assertInvalid(
    await patch({ ...place, endpoint: 'http://127.0.0.1:9', accessKeyId }),
    'destination.secretAccessKey',
  );
  const { db } = service.app.store;
  const rows = await db.rows<{ text: string }>(
    sql`select row_to_json(d)::text as text from backup_destinations d where workspace_id = ${workspaceId}`,
  );
  assert.equal(rows.length, 2, 'older backups keep the place that they lie at');
  const everything = JSON.stringify([rows, service.logLines, again.text]);
  assert.ok(!everything.includes(secretAccessKey));
});

async function scheduled({ service, environmentId }: BackupScene) {
  const rows = await service.app.store.db.rows<{ trigger: string; finished: boolean }>(sql`
    select trigger, finished_at is not null as finished from backups
    where environment_id = ${environmentId} and trigger = 'schedule' order by id`);
  return rows.length;
}

async function notices({ service, environmentId }: BackupScene) {
  const rows = await service.app.store.db.rows<{ kind: string; data: Record<string, unknown> }>(sql`
    select kind, data from notices where environment_id = ${environmentId} and kind = 'backup_missed' order by at`);
  return rows.map(({ data }) => data);
}

function endAll({ service, environmentId }: BackupScene) {
  return service.app.store.db.run(sql`
    update backups set status = 'succeeded', finished_at = now()
    where environment_id = ${environmentId} and finished_at is null`);
}

test('a schedule makes one backup a run, none over another, and makes up once for runs that were missed', async () => {
  const scene = await startBackupScene();
  const { ask, path, service, environmentId } = scene;
  await scene.withData();
  // A backup that is begun waits here until it is ended: its server is none, and giving it up takes no time.
  await setOperationLimit(service.app.store.db, 'workspace', scene.workspaceId, 0);
  const ctx = { ...service.app.contexts.backups, clock: service.clock };
  const changed = await ask('PATCH', `${path}/config`, { enabled: true, cron: '0 3 * * *' });
  const at = new Date(String(changed.body.nextRunAt));
  assert.equal((at.getTime() - jitterSeconds(environmentId) * 1_000) % day, 3 * hour, 'with its own delay');
  const go = (time: Date) => service.clock.advance(time.getTime() - service.clock.now().getTime());
  const later = (ms: number) => new Date(at.getTime() + ms);

  go(later(-minute));
  await startDueBackups(ctx);
  assert.equal(await scheduled(scene), 0, 'not before its time');
  go(later(minute));
  await Promise.all([startDueBackups(ctx), startDueBackups(ctx)]);
  assert.equal(await scheduled(scene), 1, 'once, whoever looks');
  assert.deepEqual(await notices(scene), []);

  go(later(day + minute));
  await startDueBackups(ctx);
  assert.equal(await scheduled(scene), 1, 'the one before has not ended');
  assert.deepEqual(
    (await notices(scene)).map(({ cause, isMadeUp }) => [cause, isMadeUp]),
    [['overlap', false]],
  );

  await endAll(scene);
  go(later(2 * day + 5 * hour));
  await startDueBackups(ctx);
  await startDueBackups(ctx);
  assert.equal(await scheduled(scene), 2, 'made up for, once');
  assert.deepEqual(
    (await notices(scene)).slice(1).map(({ cause, isMadeUp, missed }) => [cause, isMadeUp, missed]),
    [['late', true, 1]],
  );

  await endAll(scene);
  go(later(6 * day + 5 * hour));
  await startDueBackups(ctx);
  assert.equal(await scheduled(scene), 2, 'too long ago to be made up for');
  const last = (await notices(scene)).at(-1);
  assert.deepEqual([last?.cause, last?.isMadeUp, last?.missed], ['late', false, 4]);
  const config = await service.app.store.db.one<{ next: Date }>(sql`
    select next_run_at as next from backup_configs where environment_id = ${environmentId}`);
  assert.equal(config?.next.getTime(), later(7 * day).getTime(), 'the next one is at its time again');
});

function upload(
  scene: BackupScene,
  body: FormData | string,
  query = '',
  headers: Record<string, string> = {},
) {
  const url = `${scene.service.url}/api/v1${scene.path}/import${query}`;
  return fetch(url, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${scene.person.token}`, ...headers },
  }).then(async (answer) => {
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: Object(JSON.parse(text)) };
  });
}

function form(fields: readonly (readonly [name: string, value: string | Blob])[]): FormData {
  const made = new FormData();
  for (const [name, value] of fields)
    if (typeof value === 'string') made.append(name, value);
    else made.append(name, value, 'dump.sql');
  return made;
}

test('an upload says by its fields what is wrong with it, and leaves nothing', async () => {
  const scene = await startBackupScene({ SLIPWAY_LIMIT_IMPORT_MB: '1' });
  const file = new Blob(['select 1;']);
  assertProblem(await upload(scene, form([['file', file]])), 409, 'server_not_linked');
  const serviceId = await scene.withData();
  const wrong: readonly (readonly [body: FormData, path: string])[] = [
    [form([]), 'file'],
    [form([['serviceId', serviceId]]), 'file'],
    [form([['upload', file]]), 'upload'],
    [
      form([
        ['kind', 'x'],
        ['file', file],
      ]),
      'kind',
    ],
    [
      form([
        ['serviceId', 'x'],
        ['file', file],
      ]),
      'serviceId',
    ],
    [
      form([
        ['serviceId', scene.environmentId],
        ['file', file],
      ]),
      'serviceId',
    ],
  ];
  for (const [body, field] of wrong) assertInvalid(await upload(scene, body), field);
  assertInvalid(await upload(scene, form([['file', file]]), '?service=x'), 'service');
  assertProblem(
    await upload(scene, '{}', '', { 'content-type': 'application/json' }),
    415,
    'unsupported_media_type',
  );
  const large = new Blob([new Uint8Array(2 * 1024 * 1024)]);
  assertProblem(await upload(scene, form([['file', large]])), 413, 'payload_too_large');
  const broken = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf';
  const half = await upload(scene, broken, '', { 'content-type': 'multipart/form-data; boundary=x' });
  assert.ok(half.status >= 400, half.text);
  const { db } = scene.service.app.store;
  const operations = await db.rows(
    sql`select 1 from operations where workspace_id = ${scene.workspaceId} and kind = 'backup_import'`,
  );
  assert.deepEqual(operations, []);
});
