import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { masterKeys, migratedDatabase, newAccount, newWorkspace } from '../../test/support/database.ts';
import { faultOf } from '../../test/support/faults.ts';
import { until, waitingForLocks } from '../../test/support/until.ts';
import { errorCode } from '../fault.ts';
import { type AccountId, newId, type TotpFactorId, type WorkspaceId } from '../ids.ts';
import { Secret } from '../secret.ts';
import type { Database } from './database.ts';
import { checkMasterKeys } from './master-keys.ts';
import { rotateKeys } from './rotate-keys.ts';
import { Sealer } from './sealed.ts';
import { sql } from './sql.ts';

const [oldByte, newByte] = [1, 2];
const oldKeys = masterKeys(oldByte);
const newKeys = masterKeys(newByte);

interface TokenRow {
  readonly workspaceId: WorkspaceId;
  readonly id: string;
  readonly sealed: Buffer;
}

function tokenRows(db: Database): Promise<TokenRow[]> {
  return db.rows<TokenRow>(sql`
    select workspace_id as "workspaceId", id, token_sealed as sealed from test_tokens
    where token_sealed is not null order by id`);
}

function open(db: Database, sealer: Sealer, row: TokenRow): Promise<Secret> {
  const { workspaceId, id } = row;
  return sealer.open(db, { workspaceId, table: 'test_tokens', row: id, column: 'token_sealed' }, row.sealed);
}

/** Two workspaces with tokens, each saying whose it is, and one row without. */
async function prepare(t: TestContext, tokens = 3) {
  const { db, connect } = await migratedDatabase(t);
  await checkMasterKeys(db, oldKeys);
  await db.run(sql`
    create table test_tokens (workspace_id uuid not null, id uuid not null, token_sealed bytea,
      primary key (workspace_id, id))`);
  const sealer = new Sealer(oldKeys);
  for (const workspaceId of [await newWorkspace(db), await newWorkspace(db)]) {
    for (let count = 0; count < tokens; count += 1) {
      const row = newId<AccountId>();
      const place = { workspaceId, table: 'test_tokens', row, column: 'token_sealed' } as const;
      const sealed = await sealer.seal(db, place, new Secret(`of ${workspaceId}/${row}`));
      await db.run(sql`insert into test_tokens values (${workspaceId}, ${row}, ${sealed})`);
    }
    await db.run(sql`insert into test_tokens values (${workspaceId}, ${newId<AccountId>()}, null)`);
  }
  return { db, connect };
}

async function everything(db: Database) {
  return {
    tokens: await tokenRows(db),
    dataKeys: await db.rows(sql`select * from data_keys order by id`),
    masterKeys: await db.rows(sql`select * from master_keys order by id`),
  };
}

test('after a rotation the new key opens every value, and the old one none', async (t) => {
  const { db } = await prepare(t);
  const before = await tokenRows(db);
  assert.deepEqual(await rotateKeys(db, masterKeys(newByte, oldByte)), { owners: 2, values: 6 });
  const after = await tokenRows(db);
  assert.equal(after.length, 6);
  for (const row of after) {
    const opened = await open(db, new Sealer(newKeys), row);
    assert.equal(opened.reveal(), `of ${row.workspaceId}/${row.id}`);
    assert.equal((await faultOf(() => open(db, new Sealer(oldKeys), row))).code, 'wrong_master_key');
  }
  // A copy of the rows from before opens with neither: the keys that sealed them are gone.
  for (const row of before) {
    for (const keys of [oldKeys, newKeys, masterKeys(newByte, oldByte)]) {
      assert.equal((await faultOf(() => open(db, new Sealer(keys), row))).code, 'sealed_value_unreadable');
    }
  }
});

test('after a rotation nothing of the old master key is left in the database, and it is refused at the start', async (t) => {
  const { db } = await prepare(t);
  await rotateKeys(db, masterKeys(newByte, oldByte));
  const known = await db.rows<{ id: string }>(sql`select id from master_keys`);
  assert.deepEqual(known, [{ id: newKeys.current.id }]);
  const wrapping = await db.rows(sql`select distinct master_key_id as id from data_keys`);
  assert.deepEqual(wrapping, [{ id: newKeys.current.id }]);
  await checkMasterKeys(db, newKeys);
  assert.equal((await faultOf(() => checkMasterKeys(db, oldKeys))).code, 'wrong_master_key');
});

test('whoever rotates keys while others write loses none of what they write', async (t) => {
  const { db, connect } = await prepare(t, 1);
  const [{ workspaceId } = { workspaceId: newId<WorkspaceId>() }] = await tokenRows(db);
  const row = newId<AccountId>();
  const place = { workspaceId, table: 'test_tokens', row, column: 'token_sealed' } as const;
  const other = connect();
  let rotation: Promise<unknown> | undefined;
  await other.transaction(async (tx) => {
    const sealed = await new Sealer(oldKeys).seal(tx, place, new Secret(`of ${workspaceId}/${row}`));
    let isDone = false;
    rotation = rotateKeys(db, masterKeys(newByte, oldByte)).finally(() => {
      isDone = true;
    });
    // Sealed and not stored yet: the rotation comes in between, and has to wait.
    await until(async () => isDone || (await waitingForLocks(other)) > 0, 'the rotation to wait or to end');
    await tx.run(sql`insert into test_tokens values (${workspaceId}, ${row}, ${sealed})`);
  });
  await rotation;
  for (const each of await tokenRows(db)) {
    const opened = await open(db, new Sealer(newKeys), each);
    assert.equal(opened.reveal(), `of ${each.workspaceId}/${each.id}`);
  }
  // An instance that still has the old key alone writes nothing that is lost: it is refused.
  const refused = await faultOf(() => new Sealer(oldKeys).seal(db, place, new Secret('late')));
  assert.equal(refused.code, 'wrong_master_key');
});

test('whoever changes a value while keys are rotated neither stops the rotation nor loses the value', async (t) => {
  const { db, connect } = await prepare(t, 1);
  const [row] = await tokenRows(db);
  assert.ok(row);
  const place = { ...row, table: 'test_tokens', row: row.id, column: 'token_sealed' } as const;
  const other = connect();
  let rotation: Promise<unknown> | undefined;
  const changing = other.transaction(async (tx) => {
    await tx.run(sql`update test_tokens set token_sealed = token_sealed where id = ${row.id}`);
    rotation = rotateKeys(db, masterKeys(newByte, oldByte));
    await until(async () => (await waitingForLocks(other)) > 0, 'the rotation to wait for the row');
    const sealed = await new Sealer(oldKeys).seal(tx, place, new Secret(`of ${row.workspaceId}/${row.id}`));
    await tx.run(sql`update test_tokens set token_sealed = ${sealed} where id = ${row.id}`);
  });
  // One of both was ended and can be done again; that it was the rotation is not to be seen.
  await changing.catch((error: unknown) => assert.equal(errorCode(error), '40P01'));
  await rotation;
  for (const each of await tokenRows(db)) {
    const opened = await open(db, new Sealer(newKeys), each);
    assert.equal(opened.reveal(), `of ${each.workspaceId}/${each.id}`);
  }
});

test('a rotation that fails in the middle changes nothing', async (t) => {
  const { db } = await prepare(t);
  const damaged = (await tokenRows(db)).at(-1);
  await db.run(sql`
    update test_tokens set token_sealed = set_byte(token_sealed, 40, get_byte(token_sealed, 40) # 1)
    where id = ${damaged?.id ?? null}`);
  const before = await everything(db);
  const fault = await faultOf(() => rotateKeys(db, masterKeys(newByte, oldByte)));
  assert.equal(fault.code, 'sealed_value_unreadable');
  assert.ok(fault.message.includes(`test_tokens.token_sealed, row ${damaged?.id}`), fault.message);
  assert.deepEqual(await everything(db), before);
  for (const row of before.tokens.slice(0, -1)) await open(db, new Sealer(oldKeys), row);
});

test('a rotation without the old key at hand changes nothing', async (t) => {
  const { db } = await prepare(t);
  const before = await everything(db);
  assert.equal((await faultOf(() => rotateKeys(db, newKeys))).code, 'wrong_master_key');
  assert.deepEqual(await everything(db), before);
});

test('the same master key may stay: the workspace keys are new, and all values open', async (t) => {
  const { db } = await prepare(t);
  const before = await everything(db);
  await rotateKeys(db, oldKeys);
  const after = await everything(db);
  assert.equal(after.dataKeys.length, before.dataKeys.length);
  for (const [at, row] of after.tokens.entries()) {
    assert.notDeepEqual(row.sealed.subarray(1, 17), before.tokens[at]?.sealed.subarray(1, 17));
    assert.equal((await open(db, new Sealer(oldKeys), row)).reveal(), `of ${row.workspaceId}/${row.id}`);
  }
});

test('every table with a sealed column is found, however it is named, and no other column is touched', async (t) => {
  const { db } = await prepare(t, 1);
  await db.run(sql`
    create table "odd ""name" (workspace_id uuid, id bigint, "Key_sealed" bytea, plain bytea, note_sealed text)`);
  const workspaceId = (await tokenRows(db))[0]?.workspaceId ?? newId<WorkspaceId>();
  const place = { workspaceId, table: 'odd "name', row: '7', column: 'Key_sealed' } as const;
  const sealed = await new Sealer(oldKeys).seal(db, place, new Secret('odd'));
  await db.run(sql`insert into "odd ""name" values (${workspaceId}, 7, ${sealed}, ${sealed}, 'note')`);
  assert.equal((await rotateKeys(db, masterKeys(newByte, oldByte))).values, 3);
  const row = await db.one<{ Key_sealed: Buffer; plain: Buffer; note_sealed: string }>(sql`
    select "Key_sealed", plain, note_sealed from "odd ""name"`);
  assert.ok(row);
  assert.equal((await new Sealer(newKeys).open(db, place, row.Key_sealed)).reveal(), 'odd');
  assert.deepEqual([row.plain, row.note_sealed], [sealed, 'note']);
});

test('a rotation of many values leaves no statement prepared for each of them', async (t) => {
  const { connect } = await prepare(t, 40);
  const db = connect({ max: 1 });
  await rotateKeys(db, masterKeys(newByte, oldByte));
  const left = await db.one<{ count: number }>(sql`
    select count(*)::int as count from pg_prepared_statements`);
  assert.ok(Number(left?.count) < 40, `${left?.count} prepared statements`);
});

test('values of accounts are sealed anew, too', async (t) => {
  const { db } = await prepare(t, 1);
  const accountId = await newAccount(db);
  const row = newId<TotpFactorId>();
  const place = { accountId, table: 'totp_factors', row, column: 'secret_sealed' } as const;
  const sealed = await new Sealer(oldKeys).seal(db, place, new Secret('of an account'));
  await db.run(sql`
    insert into totp_factors (account_id, id, secret_sealed, created_at)
    values (${accountId}, ${row}, ${sealed}, now())`);
  assert.deepEqual(await rotateKeys(db, masterKeys(newByte, oldByte)), { owners: 3, values: 3 });
  const after = await db.one<{ sealed: Buffer }>(sql`
    select secret_sealed as sealed from totp_factors where id = ${row}`);
  const opened = await new Sealer(newKeys).open(db, place, after?.sealed ?? Buffer.alloc(0));
  assert.equal(opened.reveal(), 'of an account');
});
