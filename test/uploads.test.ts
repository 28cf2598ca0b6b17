import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, utimesSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Uploads } from '../src/adapters/git/uploads/uploads.ts';
import { pruneDeployments } from '../src/areas/deployments/prune-deployments.ts';
import { tidyUploads } from '../src/areas/deployments/uploads/tidy-uploads.ts';
import { after, hour } from '../src/clock.ts';
import { newId, type UploadId } from '../src/ids.ts';
import { sql } from '../src/store/sql.ts';
import type { TestApp } from './support/app.ts';
import { archive, filesArchive, type RawEntry, tarOf } from './support/archives.ts';
import { newPerson } from './support/people.ts';
import { assertInvalid, assertProblem } from './support/problems.ts';
import { sharedTestApp } from './support/shared-app.ts';
import { until } from './support/until.ts';
import { bareEnvironment, bareProject } from './support/workspaces.ts';

const megabyte = 2 ** 20;
const env = {
  SLIPWAY_LIMIT_UPLOAD_MB: '1',
  SLIPWAY_LIMIT_UPLOAD_UNPACKED_MB: '4',
  SLIPWAY_LIMIT_UPLOAD_FILES: '20',
  SLIPWAY_LIMIT_UPLOADS_MB: '3',
  SLIPWAY_LIMIT_TRIGGERS: '1000000',
};
const app = { Dockerfile: 'FROM scratch\nEXPOSE 8080\n', 'index.js': 'x' };

interface Sent {
  readonly query?: string;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

/** An environment that stands on a server which nobody reaches: a deployment there goes as far as its files go. */
async function scene() {
  const service = await sharedTestApp(env);
  const person = await newPerson(service);
  const { db } = service.app.store;
  const { body: me } = await service.call('GET', '/auth/me', { token: person.token });
  const workspaceId = String(Object(me.workspaces)[0]?.id);
  const environmentId = await bareEnvironment(service, await bareProject(service, workspaceId));
  const server = { name: 'one', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const { body: made } = await service.call('POST', '/servers', { token: person.token, body: server });
  await db.run(
    sql`update servers set status = 'ready', provisioned_at = now() where id = ${String(made.id)}`,
  );
  const link = () =>
    db.run(sql`update environments set server_id = ${String(made.id)} where id = ${environmentId}`);
  const ask = (method: string, path = '', body?: unknown) =>
    service.call(method, `/environments/${environmentId}/deployments${path}`, {
      token: person.token,
      ...(body !== undefined && { body }),
    });
  const upload = async (bytes: Buffer, { query = '', type = 'application/gzip', headers }: Sent = {}) => {
    const answer = await fetch(
      `${service.url}/api/v1/environments/${environmentId}/deployments/upload${query}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${person.token}`, 'content-type': type, ...headers },
        body: new Uint8Array(bytes),
      },
    );
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: Object(JSON.parse(text)) };
  };
  const ended = (id: unknown) =>
    until(async () => {
      const { body } = await ask('GET', `/${id}`);
      return body.finishedAt === null ? undefined : body;
    }, `deployment ${id} to end`);
  const stored = () => uploadsOf(service).listOf(workspaceId);
  /** One of the repository, as it is when it has ended. */
  const ofBranch = () =>
    db.run(sql`
      insert into deployments (workspace_id, id, environment_id, number, trigger, wanted, status, server_id, queued_at, finished_at)
      select workspace_id, ${newId()}, environment_id, max(number) + 1, 'push', '{"branch":"main"}', 'failed', ${newId()}, now(), now()
      from deployments where environment_id = ${environmentId} group by workspace_id, environment_id`);
  return { service, db, person, workspaceId, environmentId, link, ask, upload, ended, stored, ofBranch };
}

function uploadsOf({ app: { store } }: TestApp): Uploads {
  const most = 100 * megabyte;
  const limits = {
    maxSentBytes: most,
    maxUnpackedBytes: most,
    maxFiles: 100,
    maxOwnerBytes: most,
    keepFreeBytes: 0,
  };
  return new Uploads(store.folder.uploadsDir, limits);
}

const later = (service: TestApp) => ({
  db: service.app.store.db,
  clock: { now: () => after(new Date(), 3 * hour) },
  uploads: async () => uploadsOf(service),
});

test('a working tree is deployed: it says so, who sent it, and can be deployed again by its commit', async () => {
  const { service, person, link, ask, upload, ended, ofBranch, db } = await scene();
  await link();
  const sent = await upload(filesArchive(app), { query: '?message=Try%20it' });
  assert.equal(sent.status, 202, sent.text);
  const { id, source, trigger, requestedBy, commit } = sent.body;
  assert.deepEqual(
    [source, trigger, requestedBy, commit.branch],
    ['upload', 'manual', person.accountId, null],
  );
  assert.match(commit.sha, /^[0-9a-f]{40}$/);
  assert.equal(
    sent.headers.get('location'),
    `/api/v1/environments/${sent.body.environmentId}/deployments/${id}`,
  );
  const over = await ended(id);
  // Its files were read; that the server is not there comes after.
  assert.deepEqual(over.commit, { sha: commit.sha, message: 'Try it', author: person.email, branch: null });
  assert.deepEqual([over.status, Object(over.fault).step], ['failed', 'plan'], JSON.stringify(over.fault));
  const { body: entries } = await service.call('GET', '/audit?action=deployUpload', { token: person.token });
  const [entry] = Object(entries.items);
  assert.deepEqual(entry.subject, { type: 'deployment', id });
  const again = await ask('POST', '', { commit: commit.sha });
  assert.deepEqual(
    [again.status, again.body.source, again.body.trigger],
    [202, 'upload', 'retry'],
    again.text,
  );
  assert.equal(Object((await ended(again.body.id)).commit).message, 'Try it');
  await ofBranch();
  const notices = await db.rows<{ data: Record<string, unknown> }>(
    sql`select data from notices where subject_id = ${String(id)}`,
  );
  for (const { data } of notices) assert.equal(data.source, 'upload');
  const { body: list } = await ask('GET');
  assert.deepEqual(
    Array.from(Object(list.items), (each) => Object(each).source),
    ['repository', 'upload', 'upload'],
  );
});

test('what cannot be deployed is refused with its reason, and leaves nothing', async () => {
  const { link, upload, stored, ask } = await scene();
  assertProblem(await upload(filesArchive(app)), 409, 'server_not_linked');
  await link();
  assertProblem(await upload(filesArchive(app), { type: 'application/json' }), 415, 'unsupported_media_type');
  assertProblem(
    await upload(filesArchive(app), { type: 'multipart/form-data; boundary=x' }),
    415,
    'unsupported_media_type',
  );
  assertInvalid(await upload(filesArchive(app), { query: '?text=x' }), 'text');
  assertInvalid(await upload(filesArchive(app), { query: `?message=${'x'.repeat(501)}` }), 'message');
  const evil = await upload(archive([{ name: 'ok' }, { name: '../../etc/cron.d/evil' }]));
  assertProblem(evil, 422, 'archive_invalid');
  assert.match(evil.text, /«..\/..\/etc\/cron.d\/evil» leads out of the folder/);
  assertProblem(await upload(Buffer.from('hello')), 422, 'archive_invalid');
  assertProblem(await upload(Buffer.alloc(0)), 422, 'archive_invalid');
  const noise = randomBytes(2 * megabyte);
  const large = await upload(tarOf([{ name: 'noise', content: noise }]), { type: 'application/x-tar' });
  assertProblem(large, 413, 'payload_too_large');
  assert.match(large.text, /SLIPWAY_LIMIT_UPLOAD_MB/);
  const unpacked = await upload(archive([{ name: 'zeros', content: Buffer.alloc(5 * megabyte) }]));
  assertProblem(unpacked, 413, 'payload_too_large');
  assert.match(unpacked.text, /SLIPWAY_LIMIT_UPLOAD_UNPACKED_MB/);
  const many: RawEntry[] = Array.from({ length: 21 }, (_, at) => ({ name: `f${at}` }));
  assert.match((await upload(archive(many))).text, /SLIPWAY_LIMIT_UPLOAD_FILES/);
  assert.deepEqual(stored(), []);
  const { body } = await ask('GET');
  assert.deepEqual(body.items, []);
});

test('one that is sent twice by one key is deployed once', async () => {
  const { link, upload, stored } = await scene();
  await link();
  const headers = { 'idempotency-key': newId() };
  const [one, other] = [
    await upload(filesArchive(app), { headers }),
    await upload(filesArchive(app), { headers }),
  ];
  assert.deepEqual([one.status, other.status], [202, 202]);
  assert.equal(one.body.id, other.body.id);
  assert.equal(stored().length, 1);
});

test('who is refused in the middle is told so at once, and may send the rest in their own time', async (t) => {
  const { service, person, environmentId, link } = await scene();
  await link();
  const { hostname, port } = new URL(service.url);
  const size = 4 * megabyte;
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  let said = '';
  const failures: unknown[] = [];
  socket.setEncoding('latin1').on('data', (text: string) => {
    said += text;
  });
  socket.on('error', (error) => failures.push(error));
  socket.write(
    [
      `POST /api/v1/environments/${environmentId}/deployments/upload HTTP/1.1`,
      `Host: ${hostname}`,
      `Authorization: Bearer ${person.token}`,
      'Content-Type: application/x-tar',
      'Transfer-Encoding: chunked',
      '\r\n',
    ].join('\r\n'),
  );
  const body = tarOf([{ name: 'noise', content: randomBytes(size) }]);
  const send = (from: number, to: number) =>
    socket.write(
      Buffer.concat([
        Buffer.from(`${(to - from).toString(16)}\r\n`),
        body.subarray(from, to),
        Buffer.from('\r\n'),
      ]),
    );
  send(0, 2 * megabyte);
  await until(() => said.includes('"payload_too_large"'), 'the refusal, before all is sent');
  assert.match(said, /^HTTP\/1\.1 413 /);
  send(2 * megabyte, body.length);
  // Nothing was cut off: the same connection takes the next request.
  socket.write(`0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  await until(() => said.includes('HTTP/1.1 200 ') || failures.length > 0, 'the next answer');
  assert.deepEqual(failures, []);
});

test('a sender who goes away in the middle has deployed nothing, and leaves nothing', async () => {
  const { service, person, environmentId, link, stored, ask } = await scene();
  await link();
  const url = `${service.url}/api/v1/environments/${environmentId}/deployments/upload`;
  const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'application/x-tar' };
  const sending = request(url, { method: 'POST', headers });
  const gone = new Promise((resolve) => sending.once('close', resolve).once('error', resolve));
  sending.write(tarOf([{ name: 'half', content: 'x'.repeat(10_000) }]).subarray(0, 5_000));
  await until(() => stored().length === 1, 'the upload to have begun');
  sending.destroy();
  await gone;
  await until(() => stored().length === 0, 'the half of it to be removed');
  assert.deepEqual((await ask('GET')).body.items, []);
});

test('uploads go with their deployments; what a kill has left goes once it is old', async () => {
  const { service, db, workspaceId, link, upload, ended, stored, ask, ofBranch } = await scene();
  await link();
  const { body } = await upload(filesArchive(app));
  await ended(body.id);
  const left = newId<UploadId>();
  mkdirSync(`${service.app.store.folder.uploadsDir}/${workspaceId}/${left}/new-0badc0de`, {
    recursive: true,
  });
  const now = { ...later(service), clock: { now: () => new Date() } };
  await tidyUploads(now);
  assert.equal(stored().length, 2, 'an upload that is under way is not touched');
  await tidyUploads(later(service));
  assert.deepEqual(
    stored().map(({ id }) => id === left),
    [false],
    'one that a deployment names stays',
  );
  // Newer ones push it out.
  for (let count = 0; count < 3; count += 1) await ofBranch();
  await pruneDeployments(db, 1);
  const { body: page } = await ask('GET');
  assert.deepEqual(
    Array.from(Object(page.items), (each) => Object(each).source),
    ['repository'],
  );
  await tidyUploads(later(service));
  assert.deepEqual(stored(), []);
});

test('where the disk that a workspace may have is taken, the oldest that nothing runs of makes room', async () => {
  const { service, db, environmentId, link, upload, ended, stored } = await scene();
  await link();
  const noise = () => tarOf([{ name: 'noise', content: randomBytes(900_000) }]);
  const send = async () => {
    const sent = await upload(noise(), { type: 'application/x-tar' });
    assert.equal(sent.status, 202, sent.text);
    await ended(sent.body.id);
    return sent.body;
  };
  const live = await send();
  await db.run(sql`update environments set current_deployment = ${live.id} where id = ${environmentId}`);
  const [first] = stored();
  await send();
  await send();
  const full = await upload(noise(), { type: 'application/x-tar' });
  assertProblem(full, 422, 'uploads_full');
  // Those of the last hour are left alone: they may be about to be deployed.
  const old = after(new Date(), -2 * hour);
  for (const { owner, id } of stored())
    utimesSync(`${service.app.store.folder.uploadsDir}/${owner}/${id}`, old, old);
  await send();
  const kept = stored().map(({ id }) => id);
  assert.ok(first && kept.includes(first.id), 'what is live stays');
  assert.equal(kept.length, 3);
});
