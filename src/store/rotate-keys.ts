/**
 * Replaces the master key and every key under it, and seals every value anew, in one transaction: afterwards
 * nothing opens with the old key, or nothing has changed at all.
 */
import { errorCode } from '../fault.ts';
import type { WorkspaceId } from '../ids.ts';
import type { Secret } from '../secret.ts';
import type { Database, Queryable } from './database.ts';
import type { MasterKeys } from './master-keys.ts';
import { type SealContext, Sealer } from './sealed.ts';
import { preparedText, quoteName, sql } from './sql.ts';

export interface Rotation {
  readonly workspaces: number;
  readonly values: number;
}

interface SealedColumn {
  readonly table: string;
  readonly column: SealContext['column'];
}

const mostTries = 5;
const deadlock = '40P01';

/**
 * Seals all values anew under new workspace keys, which the current master key wraps. Somebody who has changed a row and
 * is about to seal a value waits for us, and we for them: PostgreSQL ends one of both, and where it was us we begin anew.
 */
export async function rotateKeys(db: Database, keys: MasterKeys): Promise<Rotation> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rotate(db, keys);
    } catch (error) {
      if (errorCode(error) !== deadlock || tries === mostTries) throw error;
    }
  }
}

function rotate(db: Database, keys: MasterKeys): Promise<Rotation> {
  const sealer = new Sealer(keys);
  return db.transaction(async (tx) => {
    await tx.run(sql`insert into master_keys (id) values (${keys.current.id}) on conflict do nothing`);
    const workspaces = await tx.rows<{ workspaceId: WorkspaceId }>(sql`
      select distinct workspace_id as "workspaceId" from data_keys`);
    for (const { workspaceId } of workspaces) await sealer.newKey(tx, workspaceId);
    let values = 0;
    for (const column of await sealedColumns(tx)) values += await resealColumn(tx, sealer, column);
    await tx.run(sql`delete from data_keys where retired_at is not null`);
    await tx.run(sql`delete from master_keys where id <> ${keys.current.id}`);
    return { workspaces: workspaces.length, values };
  });
}

async function resealColumn(tx: Queryable, sealer: Sealer, { table, column }: SealedColumn): Promise<number> {
  // Names of tables and columns come from the database's own catalogue and cannot be parameters.
  const names = { table: quoteName(table), column: quoteName(column) };
  const select = `select workspace_id as "workspaceId", id::text as row, ${names.column} as sealed from ${names.table} where ${names.column} is not null for update`;
  const update = `update ${names.table} set ${names.column} = $1 where workspace_id = $2 and id = $3`;
  const rows = await tx.rows<{ workspaceId: WorkspaceId; row: string; sealed: Buffer }>(preparedText(select));
  for (const { workspaceId, row, sealed } of rows) {
    const context = { workspaceId, table, row, column };
    const value: Secret = await sealer.open(tx, context, sealed);
    await tx.run(preparedText(update, await sealer.seal(tx, context, value), workspaceId, row));
  }
  return rows.length;
}

function sealedColumns(tx: Queryable): Promise<SealedColumn[]> {
  return tx.rows<SealedColumn>(sql`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = current_schema() and data_type = 'bytea' and right(column_name, 7) = '_sealed'
    order by table_name, column_name`);
}
