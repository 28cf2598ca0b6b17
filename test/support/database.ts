/** A database of one's own inside a test. */
import type { TestContext } from 'node:test';
import type pg from 'pg';
import { type AccountId, newId, type WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { Secret } from '../../src/secret.ts';
import { connectDatabase, type Database } from '../../src/store/database.ts';
import { MasterKeys } from '../../src/store/master-keys.ts';
import { sql } from '../../src/store/sql.ts';
import { createTestDatabase } from './postgres.ts';

const silent = createLog('silent');

export interface OwnDatabase {
  readonly url: string;
  readonly db: Database;
  /** Another pool on the same database, as another instance has it. */
  connect(options?: pg.PoolConfig): Database;
}

export async function emptyDatabase(t: TestContext): Promise<OwnDatabase> {
  return ownDatabase(t, await createTestDatabase('empty'));
}

export async function migratedDatabase(t: TestContext): Promise<OwnDatabase> {
  return ownDatabase(t, await createTestDatabase());
}

function ownDatabase(t: TestContext, url: string): OwnDatabase {
  const pools: Database[] = [];
  const connect = (options: pg.PoolConfig = {}) => {
    const db = connectDatabase({ connectionString: url, ...options }, silent);
    pools.push(db);
    return db;
  };
  t.after(async () => {
    for (const pool of pools) await pool.close();
  });
  return { url, db: connect(), connect };
}

/** A key that tests can tell apart: 32 times the same byte. */
export function keyOf(byte: number): Secret<Buffer> {
  return new Secret(Buffer.alloc(32, byte));
}

export function masterKeys(current: number, ...older: number[]): MasterKeys {
  return new MasterKeys(keyOf(current), ...older.map(keyOf));
}

export async function newWorkspace(db: Database): Promise<WorkspaceId> {
  const id = newId<WorkspaceId>();
  await db.run(sql`insert into workspaces (id, name, created_at) values (${id}, 'test', ${new Date()})`);
  return id;
}

export async function newAccount(db: Database): Promise<AccountId> {
  const id = newId<AccountId>();
  await db.run(sql`
    insert into accounts (id, email, email_verified_at, created_at)
    values (${id}, ${`${id}@example.com`}, ${new Date()}, ${new Date()})`);
  return id;
}
