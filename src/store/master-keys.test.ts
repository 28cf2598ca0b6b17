import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { keyOf, masterKeys, migratedDatabase, newWorkspace } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import { temporaryFolder } from '../../test/support/postgres.ts';
import { Secret } from '../secret.ts';
import { checkMasterKeys, loadMasterKeys, type MasterKeys, writeKeyFile } from './master-keys.ts';
import { Sealer } from './sealed.ts';

function keyFile(t: TestContext): string {
  const folder = temporaryFolder('keys');
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'master.key');
}

const idsOf = (keys: MasterKeys) => keys.all.map(({ id }) => id);

test('without a setting the key is generated once, into a file that only we may read', (t) => {
  const file = keyFile(t);
  const made = loadMasterKeys(file, undefined);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(made.current.key.reveal().length, 32);
  const written = readFileSync(file, 'utf8');
  assert.equal(written, `${made.current.key.reveal().toString('base64')}\n`);
  assert.deepEqual(loadMasterKeys(file, undefined), made);
  assert.equal(readFileSync(file, 'utf8'), written);
  assert.notEqual(loadMasterKeys(keyFile(t), undefined).current.id, made.current.id);
});

test('a file that was open to others is closed when it is written anew', (t) => {
  const file = keyFile(t);
  writeFileSync(file, 'x', { mode: 0o644 });
  writeKeyFile(file, [keyOf(1)]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('with a setting no file is made, and one that is there is not looked at', (t) => {
  const file = keyFile(t);
  assert.deepEqual(idsOf(loadMasterKeys(file, [keyOf(1)])), idsOf(masterKeys(1)));
  assert.equal(statSync(file, { throwIfNoEntry: false }), undefined);
  writeFileSync(file, 'damaged');
  assert.deepEqual(idsOf(loadMasterKeys(file, [keyOf(1)])), idsOf(masterKeys(1)));
});

test('the file may hold several keys: the first seals, the others open', (t) => {
  const file = keyFile(t);
  writeKeyFile(file, [keyOf(1), keyOf(2), keyOf(3)]);
  const loaded = loadMasterKeys(file, undefined);
  assert.deepEqual(idsOf(loaded), idsOf(masterKeys(1, 2, 3)));
  assert.deepEqual(loaded.current.key.reveal(), Buffer.alloc(32, 1));
  assert.deepEqual(loaded.find(masterKeys(3).current.id)?.key.reveal(), Buffer.alloc(32, 3));
});

test('a damaged file is refused and left as it is, never replaced by a new key', async (t) => {
  const file = keyFile(t);
  const good = Buffer.alloc(32, 5).toString('base64');
  for (const content of [
    '',
    '\n',
    good.slice(0, -4),
    `${good}\nhunter2\n`,
    `${good}${good}`,
    `hunter2${good}`,
  ]) {
    writeFileSync(file, content);
    const fault = await faultOf(() => loadMasterKeys(file, undefined));
    assert.equal(fault.code, 'wrong_master_key', JSON.stringify(content));
    assert.ok(fault.message.includes(file), fault.message);
    assert.doesNotMatch(fault.message, /hunter2|BQUF/);
    assert.equal(readFileSync(file, 'utf8'), content);
  }
});

test('the name of a key tells nothing of it, and each purpose has a key of its own', () => {
  const keys = masterKeys(1);
  assert.match(keys.current.id, /^[0-9a-f]{16}$/);
  assert.notEqual(keys.current.id, masterKeys(2).current.id);
  const derived = [
    keys.derive('access-token'),
    keys.derive('one-time-code'),
    keys.derive('throttle'),
    masterKeys(2).derive('throttle'),
    Buffer.alloc(32, 1),
  ].map((key) => key.toString('hex'));
  assert.equal(new Set(derived).size, derived.length);
  assert.deepEqual(masterKeys(1).derive('throttle'), keys.derive('throttle'));
  assert.deepEqual(masterKeys(2, 1).derive('throttle', keys.current), keys.derive('throttle'));
});

test('a database is opened with the key that sealed it, alone or among others, and refused with another', async (t) => {
  const { db } = await migratedDatabase(t);
  await checkMasterKeys(db, masterKeys(1));
  await checkMasterKeys(db, masterKeys(1));
  const fault = await faultOf(() => checkMasterKeys(db, masterKeys(9)));
  assert.equal(fault.code, 'wrong_master_key');
  assert.ok(fault.message.includes(masterKeys(1).current.id), fault.message);
  assert.ok(fault.message.includes(masterKeys(9).current.id), fault.message);
  await checkMasterKeys(db, masterKeys(2, 1));
  await checkMasterKeys(db, masterKeys(2));
});

test('an older key may be left away only when nothing is sealed under it any more', async (t) => {
  const { db } = await migratedDatabase(t);
  await checkMasterKeys(db, masterKeys(1));
  const workspaceId = await newWorkspace(db);
  const place = { workspaceId, table: 'servers', row: '1', column: 'key_sealed' } as const;
  await new Sealer(masterKeys(1)).seal(db, place, new Secret('x'));
  await checkMasterKeys(db, masterKeys(2, 1));
  assert.equal((await faultOf(() => checkMasterKeys(db, masterKeys(2)))).code, 'wrong_master_key');
  await checkMasterKeys(db, masterKeys(2, 3, 1));
});
