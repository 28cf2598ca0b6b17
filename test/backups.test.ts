import assert from 'node:assert/strict';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { destinationCredentialsPlace } from '../src/areas/backups/backups.ts';
import { applyRetention } from '../src/areas/backups/retention/apply-retention.ts';
import { cleanUp } from '../src/areas/backups/schedule/clean-up.ts';
import { insertDestination } from '../src/areas/backups/schedule/config-queries.ts';
import { day } from '../src/clock.ts';
import { type BackupDestinationId, newId } from '../src/ids.ts';
import { Secret } from '../src/secret.ts';
import { sql } from '../src/store/sql.ts';
import { type BackupScene, sha256Of, startBackupScene } from './support/backups.ts';
import { startServer } from './support/egress-servers.ts';
import { newPerson } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { hangMs, until } from './support/until.ts';

/** The objects of its backups, by their paths. */
function filesOf({ service, environmentId }: BackupScene): string[] {
  const folder = join(service.app.store.folder.path, 'backups');
  return globSync(`${environmentId}/**/*.zst`, { cwd: folder }).map((name) => join(folder, name));
}

test('a backup is asked for once, shown at its place, and told', async () => {
  const scene = await startBackupScene();
  const { ask, path, service, person } = scene;
  assertProblem(await ask('POST', `${path}/trigger`, {}), 409, 'nothing_to_back_up');
  const serviceId = await scene.withData();
  assertInvalid(await ask('POST', `${path}/trigger`, { serviceId: newId() }), 'serviceId');
  assertInvalid(await ask('POST', `${path}/trigger`, { service: serviceId }), 'service');
  const headers = { 'idempotency-key': 'first' };
  const wish = { token: person.token, headers, body: { serviceId } };
  const first = await service.call('POST', `${path}/trigger`, wish);
  assert.equal(first.status, 202, first.text);
  const again = await service.call('POST', `${path}/trigger`, wish);
  assert.deepEqual(again.body, first.body);
  assert.equal(first.headers.get('location'), `/api/v1${path}/${first.body.id}`);
  const shown = await ask('GET', `${path}/${first.body.id}`);
  assert.deepEqual(
    [shown.body.serviceId, shown.body.trigger, shown.body.destination, shown.body.requestedBy],
    [serviceId, 'manual', { type: 'local' }, person.accountId],
  );
  const operation = await ask('GET', `/operations/${first.body.operationId}`);
  assert.deepEqual(
    [operation.body.kind, operation.body.subject],
    ['backup_make', { type: 'backup', id: first.body.id }],
  );
  const events = await service.app.store.db.rows<{ data: unknown }>(sql`
    select data from events where workspace_id = ${scene.workspaceId} and kind = 'backup_updated'
    order by position`);
  const { projectId, ...told } = Object(events[0]?.data);
  assert.equal(typeof projectId, 'string');
  assert.deepEqual(told, {
    backupId: first.body.id,
    environmentId: scene.environmentId,
    status: 'queued',
  });
});

test('the list is paged, newest first, and says how much is stored', async () => {
  const scene = await startBackupScene();
  const { ask, path } = scene;
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1)
    ids.unshift(await scene.stored({ contents: [Buffer.alloc(100)] }));
  const first = await ask('GET', `${path}?limit=2`);
  const idsOf = (items: unknown) => Object(items).map(({ id }: { id: string }) => id);
  assert.deepEqual(idsOf(first.body.items), ids.slice(0, 2));
  assert.deepEqual(first.body.storage, { usedBytes: 300, count: 3 });
  assert.equal(Object(first.body.config).enabled, false);
  const second = await ask('GET', `${path}?limit=2&cursor=${first.body.nextCursor}`);
  assert.deepEqual([idsOf(second.body.items), second.body.nextCursor], [ids.slice(2), null]);
  const all = await ask('GET', '/backups');
  assert.deepEqual(idsOf(all.body.items), ids);
});

test('what belongs to another workspace, or to another environment, does not exist', async () => {
  const scene = await startBackupScene();
  const { path, service, ask } = scene;
  const id = await scene.stored();
  const { token } = await newPerson(service);
  const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', path],
    ['GET', `${path}/config`],
    ['PATCH', `${path}/config`, { enabled: true }],
    ['POST', `${path}/trigger`, {}],
    ['GET', `${path}/${id}`],
    ['GET', `${path}/${id}/download`],
    ['POST', `${path}/${id}/restore`, {}],
    ['DELETE', `${path}/${id}?force=true`],
  ];
  for (const [method, where, body] of calls) {
    const answer = await service.call(method, where, { token, ...(body && { body }) });
    assertProblem(answer, 404, 'not_found');
    assertProblem(await service.call(method, where, body ? { body } : {}), 401, 'unauthenticated');
  }
  const form = new FormData();
  form.set('file', new Blob(['select 1']), 'a.sql');
  const upload = await fetch(`${service.url}/api/v1${path}/import`, {
    method: 'POST',
    body: form,
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(upload.status, 404);
  const elsewhere = `/environments/${newId()}/backups/${id}`;
  assertProblem(await ask('GET', elsewhere), 404, 'not_found');
  assert.deepEqual((await service.call('GET', '/backups', { token })).body.items, []);
});

test('a download is the dump, byte for byte, with its length, its sum and a harmless name', async () => {
  const scene = await startBackupScene();
  const { path, service, person, ask } = scene;
  const content = Buffer.alloc(3_000_000, 'dump ');
  const id = await scene.stored({ contents: [content] });
  const headers = { authorization: `Bearer ${person.token}` };
  const answer = await fetch(`${service.url}/api/v1${path}/${id}/download`, { headers });
  const { items } = (await ask('GET', '/audit?action=downloadBackup')).body;
  const handed = Array.from(Object(items), (entry) => Object(entry).subject);
  assert.deepEqual(handed, [{ type: 'backup', id }], 'whoever is handed secrets is in the log');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-length'), String(content.length));
  assert.equal(answer.headers.get('x-content-sha256'), sha256Of(content));
  assert.match(
    answer.headers.get('content-disposition') ?? '',
    /^attachment; filename="pro-duction-[a-z0-9-]*files-0-[\d-]+\.tar\.zst"$/,
  );
  assert.ok(Buffer.from(await answer.arrayBuffer()).equals(content));
  const several = await scene.stored({ contents: [content, Buffer.from('other')] });
  assertInvalid(await ask('GET', `${path}/${several}/download`), 'partId');
  const { parts } = (await ask('GET', `${path}/${several}`)).body;
  const second = await ask('GET', `${path}/${several}/download?partId=${Object(parts)[1].id}`);
  assert.equal(second.text, 'other');
  assertProblem(await ask('GET', `${path}/${several}/download?partId=${newId()}`), 404, 'not_found');
});

test('a dump that was damaged or lost in storage is never given out as whole', async () => {
  const scene = await startBackupScene();
  const { path, service, person, ask } = scene;
  const id = await scene.stored({ contents: [Buffer.alloc(2_000_000, 'dump ')] });
  const [file = ''] = filesOf(scene);
  const bytes = readFileSync(file);
  bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const headers = { authorization: `Bearer ${person.token}` };
  const answer = await fetch(`${service.url}/api/v1${path}/${id}/download`, { headers });
  await assert.rejects(answer.arrayBuffer(), 'the connection breaks before the last bytes');
  rmSync(file);
  assertProblem(await ask('GET', `${path}/${id}/download`), 409, 'backup_missing');
});

test('a deleted backup is gone with its objects; the last good one goes only by force', async () => {
  const scene = await startBackupScene();
  const { path, ask } = scene;
  const [older, newer] = [await scene.stored(), await scene.stored()];
  assert.equal((await ask('DELETE', `${path}/${older}`)).status, 204);
  assertProblem(await ask('GET', `${path}/${older}`), 404, 'not_found');
  assertProblem(await ask('DELETE', `${path}/${newer}`), 409, 'backup_last_good');
  assert.equal(filesOf(scene).length, 1);
  assert.equal((await ask('DELETE', `${path}/${newer}?force=true`)).status, 204);
  assert.deepEqual(filesOf(scene), []);
});

test('what retention lets go leaves with its objects; what is being restored stays', async () => {
  const scene = await startBackupScene();
  const { path, ask, service, workspaceId, environmentId } = scene;
  await ask('PATCH', `${path}/config`, { retention: { keepLast: 1, keepDays: 2 } });
  const [oldest, inUse] = [await scene.stored(), await scene.stored()];
  service.clock.advance(3 * day);
  const { token } = await newSession(scene);
  const newest = await scene.stored();
  await service.app.store.db.run(sql`
    insert into backup_restores (workspace_id, id, environment_id, source, backup_id, status, heartbeat_at, created_at)
    values (${workspaceId}, ${newId()}, ${environmentId}, 'backup', ${inUse}, 'queued', now(), now())`);
  const step = { signal: AbortSignal.timeout(hangMs), log: () => undefined };
  await applyRetention(service.app.contexts.backups, workspaceId, environmentId, step);
  const left = await service.call('GET', path, { token });
  assert.deepEqual(
    Object(left.body.items).map(({ id }: { id: string }) => id),
    [newest, inUse],
  );
  const files = filesOf(scene);
  assert.ok(files.length === 2 && !files.some((name) => name.includes(oldest)), files.join());
});

/** The clock has gone on past the life of the first token. */
async function newSession({ service, person }: BackupScene) {
  const body = { email: person.email, password: person.password };
  const answer = await service.call('POST', '/auth/login', { body });
  return { token: String(answer.body.accessToken) };
}

test('backups outlive an environment that is deleted without its data, and go with one that is deleted with it', async () => {
  for (const deleteData of [false, true]) {
    const scene = await startBackupScene();
    const { path, ask, service, environmentId } = scene;
    const id = await scene.stored();
    const removed = await ask('DELETE', `/environments/${environmentId}?deleteData=${deleteData}`);
    assert.equal(removed.status, 202, removed.text);
    await until(
      async () => (await ask('GET', `/environments/${environmentId}`)).status === 404,
      'the environment to go',
    );
    await cleanUp(service.app.contexts.backups);
    const files = filesOf(scene);
    const listed = await ask('GET', '/backups');
    assert.equal(Object(listed.body.items).length, deleteData ? 0 : 1);
    assert.equal(files.length, deleteData ? 0 : 1);
    if (deleteData) assertProblem(await ask('GET', path), 404, 'not_found');
    else assert.equal((await ask('GET', `${path}/${id}/download`)).text, 'a dump');
  }
});

test('whoever has a storage that never answers cannot keep the backups of others from being cleaned up', async (t) => {
  const [hostile, honest] = [await startBackupScene(), await startBackupScene()];
  const waiting: ServerResponse[] = [];
  let isHeld = true;
  const list = '<ListMultipartUploadsResult></ListMultipartUploadsResult>';
  const server = await startServer(t, ({ method }, response) => {
    if (isHeld) waiting.push(response);
    else response.end(method === 'GET' ? list : '');
  });
  const { db, sealer } = hostile.service.app.store;
  const { workspaceId } = hostile;
  const id = newId<BackupDestinationId>();
  const place = destinationCredentialsPlace(workspaceId, id);
  const credentialsSealed = await sealer.seal(db, place, new Secret('secret'));
  const at = { endpoint: server.url, region: 'us-east-1', bucket: 'bucket', prefix: '', accessKeyId: 'KEY' };
  await insertDestination(db, workspaceId, { id, ...at, credentialsSealed }, new Date());
  const [theirs, mine] = [await hostile.stored(), await honest.stored()];
  await db.run(sql`update backups set destination_id = ${id} where id = ${theirs}`);
  const now = hostile.service.clock.now();
  await db.run(sql`
    update backups set delete_at = ${now}::timestamptz - interval '1 hour' where id = ${theirs}`);
  await db.run(sql`update backups set delete_at = ${now} where id = ${mine}`);
  const cleaning = cleanUp(hostile.service.app.contexts.backups);
  await until(() => filesOf(honest).length === 0, 'the other backup to be removed');
  await until(() => waiting.length > 0, 'the storage to be asked');
  assert.ok(
    waiting.every(({ destroyed }) => !destroyed),
    'while the storage still keeps us waiting',
  );
  isHeld = false;
  for (const response of waiting) response.end(list);
  await cleaning;
});

test('only one that has succeeded, of what was asked for, is restored', async () => {
  const scene = await startBackupScene();
  const { path, ask, service } = scene;
  const id = await scene.stored();
  assertProblem(await ask('POST', `${path}/${id}/restore`, {}), 409, 'server_not_linked');
  const serviceId = await scene.withData();
  assertInvalid(await ask('POST', `${path}/${id}/restore`, { serviceId }), 'serviceId');
  assertInvalid(await ask('POST', `${path}/${id}/restore`, { safetyBackup: 'no' }), 'safetyBackup');
  const { db } = service.app.store;
  await db.run(sql`update backups set status = 'failed' where id = ${id}`);
  assertProblem(await ask('POST', `${path}/${id}/restore`, {}), 409, 'backup_unfinished');
  await db.run(sql`update backups set status = 'succeeded' where id = ${id}`);
  const started = await ask('POST', `${path}/${id}/restore`, {});
  assert.equal(started.status, 202, started.text);
  assert.equal(started.headers.get('location'), `/api/v1/operations/${started.body.id}`);
  assertProblem(await ask('DELETE', `${path}/${id}?force=true`), 409, 'in_use');
  await ask('POST', `/operations/${started.body.id}/cancel`);
});
