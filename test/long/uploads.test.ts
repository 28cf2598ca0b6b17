/** Working trees that are uploaded, on a real server; and a service that is killed while one arrives. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { Uploads } from '../../src/adapters/git/uploads/uploads.ts';
import { tidyUploads } from '../../src/areas/deployments/uploads/tidy-uploads.ts';
import { after, hour } from '../../src/clock.ts';
import { sql } from '../../src/store/sql.ts';
import { startTestApp } from '../support/app.ts';
import { tarOf } from '../support/archives.ts';
import { type Body, sample, startDeployScene, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { newPerson } from '../support/people.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { endEverything, startService } from '../support/service.ts';
import { hangMs, until } from '../support/until.ts';
import { bareEnvironment, bareProject } from '../support/workspaces.ts';

const lab = await openLab();

/** The command of the guide that needs nothing of ours, as it stands there. */
function guideCommand(): string {
  const guide = readFileSync(new URL('../../docs/guides/uploads.md', import.meta.url), 'utf8');
  const command = /```sh\n(tar [\s\S]*?)```/.exec(guide)?.[1] ?? '';
  assert.match(command, /curl/);
  return command;
}

test('a folder that was never pushed is deployed, gone back from and to, and built again', async (t) => {
  const scene = await startDeployScene(t, lab);
  const files = sample('static-page');
  const { environmentId, deployment: first } = await scene.deployed({ files });
  succeeded(first);
  assert.equal(first.source, 'repository');
  const tree = temporaryFolder('tree');
  t.after(() => rmSync(tree, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ ...files, 'index.html': '<html>from my disk</html>' })) {
    mkdirSync(dirname(join(tree, name)), { recursive: true });
    writeFileSync(join(tree, name), content);
  }
  const upload = async (): Promise<Body> => {
    // The service is in this process: it must not be blocked while the command talks to it.
    const { stdout } = await promisify(execFile)('sh', ['-c', guideCommand()], {
      cwd: tree,
      env: {
        ...process.env,
        SLIPWAY_TOKEN: scene.token,
        SLIPWAY_URL: scene.git.service.url,
        ENVIRONMENT_ID: environmentId,
      },
      timeout: hangMs,
    });
    const sent = Object(JSON.parse(stdout));
    return scene.ended(environmentId, String(sent.id));
  };
  const rollBack = async (id: unknown): Promise<Body> => {
    const path = `/environments/${environmentId}/deployments/${id}/rollback`;
    return scene.ended(environmentId, String((await scene.call('POST', path, {})).id));
  };

  const uploaded = await upload();
  succeeded(uploaded);
  assert.deepEqual([uploaded.source, Object(uploaded.commit).message], ['upload', 'Try the new prices']);
  assert.match(await scene.page(environmentId), /from my disk/);

  const again = await upload();
  succeeded(again);
  const lines = await scene.lines(environmentId, again.id);
  assert.ok(
    lines.some((line) => line.includes('nothing has to be built')),
    'equal files are the same image',
  );

  const newest = await scene.deploy(environmentId);
  succeeded(newest);
  assert.equal(newest.source, 'repository', 'a deployment of the branch takes the branch');
  assert.doesNotMatch(await scene.page(environmentId), /from my disk/);

  const back = await rollBack(uploaded.id);
  succeeded(back);
  assert.deepEqual([back.source, back.trigger], ['upload', 'rollback']);
  assert.match(await scene.page(environmentId), /from my disk/);
  succeeded(await rollBack(first.id));

  // Its image is gone: it is built of what was uploaded then.
  const removeImage = () =>
    scene.server.ssh(
      `docker rmi -f $(docker images -q --no-trunc | sort -u | grep -F '${String(uploaded.imageDigest)}')`,
    );
  await removeImage();
  const rebuilt = await rollBack(uploaded.id);
  succeeded(rebuilt);
  assert.match(await scene.page(environmentId), /from my disk/);

  succeeded(await rollBack(first.id));
  const { uploadsDir } = scene.git.service.app.store.folder;
  rmSync(uploadsDir, { recursive: true, force: true });
  await scene.server.ssh(
    `docker images -q --no-trunc | sort -u | grep -F -e '${String(rebuilt.imageDigest)}' | xargs docker rmi -f`,
  );
  const gone = await rollBack(rebuilt.id);
  assert.deepEqual([gone.status, Object(gone.fault).code], ['failed', 'upload_gone']);
  assert.doesNotMatch(await scene.page(environmentId), /from my disk/, 'what was live goes on');
});

test('a service that is killed while an upload arrives leaves half of one, which goes', async (t) => {
  const first = await startTestApp(t);
  const { db } = first.app.store;
  const [dataDir, uploadDir] = [temporaryFolder('killed'), temporaryFolder('uploads')];
  const killed = startService({
    SLIPWAY_DATA_DIR: dataDir,
    SLIPWAY_UPLOAD_DIR: uploadDir,
    SLIPWAY_DATABASE_URL: first.databaseUrl,
    SLIPWAY_MASTER_KEY: first.masterKey,
  });
  t.after(async () => {
    await endEverything(killed, dataDir);
    for (const folder of [dataDir, uploadDir]) rmSync(folder, { recursive: true, force: true });
  });
  const { token } = await newPerson(first);
  const { body: me } = await first.call('GET', '/auth/me', { token });
  const workspaceId = String(Object(me.workspaces)[0]?.id);
  const environmentId = await bareEnvironment(first, await bareProject(first, workspaceId));
  const server = { name: 'one', host: '127.0.0.1', port: 1, auth: { type: 'generated' } };
  const { body: made } = await first.call('POST', '/servers', { token, body: server });
  await db.run(sql`update environments set server_id = ${String(made.id)} where id = ${environmentId}`);

  const url = `${await killed.url()}/api/v1/environments/${environmentId}/deployments/upload`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-tar' };
  const sending = request(url, { method: 'POST', headers }).on('error', () => undefined);
  sending.write(tarOf([{ name: 'half', content: 'x'.repeat(10_000) }]).subarray(0, 5_000));
  const drafts = () => globSync('*/*/new-*/objects', { cwd: uploadDir });
  await until(() => drafts().length === 1, 'the upload to have begun');
  await killed.kill('SIGKILL');
  assert.equal(drafts().length, 1, 'half of it is left');
  const { body: page } = await first.call('GET', `/environments/${environmentId}/deployments`, { token });
  assert.deepEqual(page.items, [], 'nothing was asked for');

  const limits = { maxSentBytes: 1, maxUnpackedBytes: 1, maxFiles: 1, maxOwnerBytes: 1, keepFreeBytes: 0 };
  const uploads = new Uploads(uploadDir, limits);
  const tidy = (now: Date) => tidyUploads({ db, clock: { now: () => now }, uploads: async () => uploads });
  assert.equal(await tidy(new Date()), 0, 'it might still be arriving');
  assert.equal(await tidy(after(new Date(), 2 * hour)), 1);
  assert.deepEqual(uploads.list(), []);
});
