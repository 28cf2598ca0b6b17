/** Slipway's own state: backed up while the service runs, restored somewhere else, and compared. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { newId, type OperationId, type WorkspaceId } from '../../src/ids.ts';
import { sql } from '../../src/store/sql.ts';
import { readStateFile, withChecksum } from '../../src/store/state/state-file.ts';
import { callApi } from '../support/app.ts';
import { migratedDatabase } from '../support/database.ts';
import { type Instance, newInstance } from '../support/instance.ts';
import { Mailbox } from '../support/mailbox.ts';

const person = { email: 'ada@example.com', password: 'a long enough password' };

async function run(instance: Instance, command: string, file: string, settings: Record<string, string> = {}) {
  const { stdout, stderr, ended } = await finished(instance, command, file, settings);
  assert.equal(ended.code, 0, stdout + stderr);
  return stdout;
}

async function refused(instance: Instance, command: string, file: string, settings = {}) {
  const { stdout, stderr, ended } = await finished(instance, command, file, settings);
  assert.deepEqual(ended, { code: 1, signal: null }, stdout + stderr);
  assert.match(stderr, /^Slipway: /);
  return stderr;
}

async function finished(
  instance: Instance,
  command: string,
  file: string,
  settings: Record<string, string> = {},
) {
  const child = instance.start(settings, [process.execPath, 'src/slipway.ts', command, file]);
  const ended = await child.ended;
  return { stdout: child.stdout, stderr: child.stderr, ended };
}

async function linesOf(file: string): Promise<string[]> {
  const lines: string[] = [];
  let table = '';
  for await (const line of readStateFile(file)) {
    if (line.is === 'table') table = line.table.table;
    else if (line.is === 'row') lines.push(`${table} ${line.json}`);
  }
  return lines.sort();
}

/** A service with an account, a server with a sealed key, and an operation that waits; its backup, made while it ran. */
async function backedUp(t: TestContext) {
  const instance = newInstance(t);
  const service = instance.start();
  const url = await service.url();
  await callApi(url, 'POST', '/auth/register', { body: person });
  const code = await new Mailbox(join(instance.dataDir, 'outbox')).code(person.email);
  const { body } = await callApi(url, 'POST', '/auth/verify-otp', { body: { email: person.email, code } });
  const token = String(body.accessToken);
  const made = await callApi(url, 'POST', '/servers', {
    token,
    body: { name: 'Zürich „1“ \u2028 🚢', host: 'web-1.invalid', port: 1, auth: { type: 'generated' } },
  });
  assert.equal(made.status, 201, made.text);
  const file = join(dirname(instance.dataDir), 'state.zst');
  const said = await run(instance, 'backup', file);
  assert.match(
    said,
    /^Wrote .*state\.zst: \d+ rows of \d+ tables, read back and whole\.\nThe master key is not in it\./,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  return { instance, service, url, file, publicKey: made.body.publicKey, serverId: String(made.body.id) };
}

// One backup for all of these, which only read it.
test('a backup of a running service', async (all) => {
  const { instance, service, file, publicKey, serverId } = await backedUp(all);
  await service.kill('SIGTERM');

  await all.test('restored elsewhere, it has every row, opens every secret, and serves', async (t) => {
    const other = newInstance(t);
    mkdirSync(other.dataDir, { mode: 0o700 });
    assert.match(await refused(other, 'restore', file), /There is no master key\. Put the one that belongs/);
    copyFileSync(join(instance.dataDir, 'master.key'), join(other.dataDir, 'master.key'));
    assert.match(await run(other, 'restore', file), /^Restored the state of .*: \d+ rows of \d+ tables\./);

    const again = join(dirname(other.dataDir), 'again.zst');
    await run(other, 'backup', again);
    assert.deepEqual(await linesOf(again), await linesOf(file));

    const url = await other.start().url();
    const { status, body } = await callApi(url, 'POST', '/auth/login', { body: person });
    assert.equal(status, 200);
    const token = String(body.accessToken);
    const found = await callApi(url, 'GET', `/servers/${serverId}`, { token });
    assert.deepEqual([found.status, found.body.publicKey], [200, publicKey]);
    // Its private key is opened for this: the service would say so if it could not.
    const tried = await callApi(url, 'GET', `/servers/${serverId}/security?refresh=true`, { token });
    assert.notEqual(tried.status, 500, tried.text);

    assert.match(await refused(other, 'restore', file), /Another Slipway is running on the data folder/);
  });

  await all.test(
    'nothing is restored over a Slipway, without its key, or from a file that is not whole',
    async (t) => {
      assert.match(await refused(instance, 'restore', file), /already holds a Slipway with 1 accounts/);
      assert.match(await refused(instance, 'backup', file), /is there already/);

      const other = newInstance(t);
      mkdirSync(other.dataDir, { mode: 0o700 });
      const key = join(other.dataDir, 'master.key');
      writeFileSync(key, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
      assert.match(
        await refused(other, 'restore', file),
        /was sealed with the master key [0-9a-f]{16}, which is not/,
      );
      copyFileSync(join(instance.dataDir, 'master.key'), key);

      const whole = readFileSync(file);
      const damaged = join(dirname(other.dataDir), 'damaged.zst');
      const cuts: [string, Buffer][] = [
        ['cut short', whole.subarray(0, whole.length - 40)],
        ['cut in half', whole.subarray(0, whole.length >> 1)],
        ['no backup', Buffer.from('hello')],
        ['one byte changed', changed(whole, whole.length >> 1)],
      ];
      for (const [what, bytes] of cuts) {
        writeFileSync(damaged, bytes);
        assert.match(await refused(other, 'restore', damaged), /cannot be restored from/, what);
      }
      assert.ok(!existsSync(join(other.dataDir, 'postgres')), 'no database was made for them');
    },
  );

  await all.test(
    'a file whose lines were changed and compressed anew is refused by its checksum',
    async () => {
      const text = (await through(createZstdDecompress(), readFileSync(file))).toString();
      const forged = join(dirname(instance.dataDir), 'forged.zst');
      writeFileSync(
        forged,
        await through(createZstdCompress(), Buffer.from(text.replace('ada@example.com', 'eve@example.com'))),
      );
      await assert.rejects(linesOf(forged), { code: 'state_file_damaged' });
      const lines = text.split('\n').slice(0, -2);
      const honest = await Array.fromAsync(
        withChecksum(
          (async function* () {
            yield* lines;
          })(),
        ),
      );
      writeFileSync(forged, await through(createZstdCompress(), Buffer.from(honest.join(''))));
      assert.equal((await linesOf(forged)).length, lines.filter((line) => !line.startsWith('#')).length);
    },
  );
});

test('work that was under way when the backup was made is cancelled after the restore, with an epoch beyond all', async (t) => {
  const from = await migratedDatabase(t);
  const to = await migratedDatabase(t);
  const [workspaceId, running, ended] = [newId<WorkspaceId>(), newId<OperationId>(), newId<OperationId>()];
  await from.db.run(
    sql`insert into workspaces (id, name, created_at) values (${workspaceId}, 'A workspace', now())`,
  );
  await from.db.run(sql`
    insert into operations (workspace_id, id, kind, input, state, lease_epoch, lease_until, finished_at)
    values (${workspaceId}, ${running}, 'deployment', '{}', 'running', 3, now() + interval '1 hour', null),
      (${workspaceId}, ${ended}, 'deployment', '{}', 'succeeded', 2, null, now())`);
  const instance = newInstance(t);
  mkdirSync(instance.dataDir, { mode: 0o700 });
  const file = join(dirname(instance.dataDir), 'state.zst');
  const settings = { SLIPWAY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') };
  await run(instance, 'backup', file, { ...settings, SLIPWAY_DATABASE_URL: from.url });
  const said = await run(instance, 'restore', file, { ...settings, SLIPWAY_DATABASE_URL: to.url });
  assert.match(said, /1 operations were under way then/);
  const rows = await to.db.rows<{ id: string; epoch: string; isCancelled: boolean }>(sql`
    select id, lease_epoch::text as epoch, cancel_requested_at is not null as "isCancelled"
    from operations order by lease_epoch`);
  assert.deepEqual(rows, [
    { id: ended, epoch: '2', isCancelled: false },
    { id: running, epoch: '1000003', isCancelled: true },
  ]);
});

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
  return copy;
}

async function through(stream: ReturnType<typeof createZstdCompress>, bytes: Buffer): Promise<Buffer> {
  stream.end(bytes);
  return Buffer.concat(await Array.fromAsync<Buffer>(stream));
}
