import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masterKeys, migratedDatabase, newAccount, newWorkspace } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import type { AccountId, WorkspaceId } from '../ids.ts';
import { Secret } from '../secret.ts';
import type { Database } from './database.ts';
import { checkMasterKeys } from './master-keys.ts';
import { type SealContext, Sealer } from './sealed.ts';
import { sql } from './sql.ts';

const secret = new Secret('glpat-correct-horse');
const keys = masterKeys(1);

function placeIn(workspaceId: WorkspaceId): SealContext & { readonly workspaceId: WorkspaceId } {
  return { workspaceId, table: 'git_providers', row: 'row-1', column: 'token_sealed' };
}

async function prepare(t: Parameters<typeof migratedDatabase>[0]) {
  const { db, connect } = await migratedDatabase(t);
  await checkMasterKeys(db, keys);
  const workspaceId = await newWorkspace(db);
  return { db, connect, workspaceId, place: placeIn(workspaceId), sealer: new Sealer(keys) };
}

async function countKeys(db: Database): Promise<number | undefined> {
  return (await db.one<{ count: number }>(sql`select count(*)::int as count from data_keys`))?.count;
}

test('what is sealed opens again, also after a restart, whatever the text', async (t) => {
  const { db, place, sealer } = await prepare(t);
  for (const text of ['', 'a', 'grüße \u{1f511}\n\0', 'x'.repeat(1_000_000)]) {
    const sealed = await sealer.seal(db, place, new Secret(text));
    assert.equal((await sealer.open(db, place, sealed)).reveal(), text);
    assert.equal((await new Sealer(keys).open(db, place, sealed)).reveal(), text);
  }
});

test('a sealed value shows nothing of the text, and sealing it twice gives two different ones', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const one = await sealer.seal(db, place, secret);
  const other = await sealer.seal(db, place, secret);
  assert.equal(one.includes('correct'), false);
  const afterKeyId = 17;
  assert.notDeepEqual(one.subarray(afterKeyId), other.subarray(afterKeyId));
  assert.deepEqual(one.subarray(0, afterKeyId), other.subarray(0, afterKeyId));
});

test('a sealed value opens only in its own workspace, table, row and column', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const sealed = await sealer.seal(db, place, secret);
  const elsewhere: SealContext[] = [
    { ...place, workspaceId: await newWorkspace(db) },
    { ...place, table: 'servers' },
    { ...place, row: 'row-2' },
    { ...place, column: 'key_sealed' },
    { ...place, table: 'git_providers","row-1', row: '' },
  ];
  for (const opener of [sealer, new Sealer(keys)]) {
    for (const other of elsewhere) {
      const fault = await faultOf(() => opener.open(db, other, sealed));
      assert.equal(fault.code, 'sealed_value_unreadable');
      assert.ok(fault.message.includes(`${other.table}.${other.column}, row ${other.row}`), fault.message);
    }
  }
});

test('a sealed value of which any one bit was flipped does not open', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const sealed = await sealer.seal(db, place, secret);
  for (let bit = 0; bit < sealed.length * 8; bit += 1) {
    const altered = Buffer.from(sealed);
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    const fault = await faultOf(() => sealer.open(db, place, altered));
    assert.equal(fault.code, 'sealed_value_unreadable', `bit ${bit}`);
  }
});

test('a sealed value that was cut or made longer does not open', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const sealed = await sealer.seal(db, place, secret);
  const damaged: Buffer[] = [Buffer.concat([sealed, Buffer.of(0)])];
  for (let length = 0; length < sealed.length; length += 1) damaged.push(sealed.subarray(0, length));
  for (const each of damaged) {
    const fault = await faultOf(() => sealer.open(db, place, each));
    assert.equal(fault.code, 'sealed_value_unreadable', `${each.length} bytes`);
  }
});

test('with another master key nothing opens, and the sentence says which key is missing', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const sealed = await sealer.seal(db, place, secret);
  const stranger = new Sealer(masterKeys(2));
  for (const work of [() => stranger.open(db, place, sealed), () => stranger.seal(db, place, secret)]) {
    const fault = await faultOf(work);
    assert.equal(fault.code, 'wrong_master_key');
    assert.ok(fault.message.includes(keys.current.id), fault.message);
    assert.match(fault.message, /Add it to SLIPWAY_MASTER_KEY\.$/);
  }
  const both = new Sealer(masterKeys(2, 1));
  assert.equal((await both.open(db, place, sealed)).reveal(), secret.reveal());
});

test('the key of a workspace that was altered, or put in the place of another, opens nothing', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const sealed = await sealer.seal(db, place, secret);
  const other = placeIn(await newWorkspace(db));
  await sealer.seal(db, other, secret);
  await db.run(sql`
    update data_keys set wrapped = (select wrapped from data_keys where workspace_id = ${other.workspaceId})
    where workspace_id = ${place.workspaceId}`);
  assert.equal((await faultOf(() => new Sealer(keys).open(db, place, sealed))).code, 'wrong_master_key');
  await db.run(sql`update data_keys set wrapped = ''::bytea where workspace_id = ${place.workspaceId}`);
  assert.equal((await faultOf(() => new Sealer(keys).open(db, place, sealed))).code, 'wrong_master_key');
});

test('instances that seal for a new workspace at the same moment make one key, and open each other’s values', async (t) => {
  const { db, connect, place } = await prepare(t);
  const instances = Array.from({ length: 4 }, () => ({ db: connect(), sealer: new Sealer(keys) }));
  const sealed = await Promise.all(
    [...instances, ...instances].map((each) =>
      each.db.transaction((tx) => each.sealer.seal(tx, place, secret)),
    ),
  );
  assert.equal(await countKeys(db), 1);
  for (const each of instances) {
    for (const value of sealed) {
      assert.equal((await each.sealer.open(each.db, place, value)).reveal(), secret.reveal());
    }
  }
});

test('a key that was made in a transaction that rolled back is not used again', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const undone = db.transaction(async (tx) => {
    await sealer.seal(tx, place, secret);
    throw new Error('undo');
  });
  await assert.rejects(undone, /undo/);
  assert.equal(await countKeys(db), 0);
  const sealed = await sealer.seal(db, place, secret);
  assert.equal(await countKeys(db), 1);
  assert.equal((await new Sealer(keys).open(db, place, sealed)).reveal(), secret.reveal());
});

test('after a new key the values of the one before still open', async (t) => {
  const { db, place, sealer } = await prepare(t);
  const before = await sealer.seal(db, place, secret);
  await sealer.newKey(db, place);
  const after = await sealer.seal(db, place, secret);
  assert.notDeepEqual(before.subarray(1, 17), after.subarray(1, 17));
  for (const each of [before, after]) {
    assert.equal((await new Sealer(keys).open(db, place, each)).reveal(), secret.reveal());
  }
});

test('what is sealed for an account opens for it alone, and its key goes with it', async (t) => {
  const { db, sealer } = await prepare(t);
  const [ada, eve] = [await newAccount(db), await newAccount(db)];
  const place = (accountId: AccountId) =>
    ({ accountId, table: 'totp_factors', row: 'x', column: 'secret_sealed' }) as const;
  const sealed = await sealer.seal(db, place(ada), secret);
  assert.equal((await new Sealer(keys).open(db, place(ada), sealed)).reveal(), secret.reveal());
  for (const each of [sealer, new Sealer(keys)])
    assert.equal((await faultOf(() => each.open(db, place(eve), sealed))).code, 'sealed_value_unreadable');
  await db.run(sql`delete from accounts where id = ${ada}`);
  assert.equal(await db.exists(sql`select 1 from data_keys where account_id = ${ada}`), false);
});
