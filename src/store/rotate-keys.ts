/**
 * Replaces the master key and every key under it, and seals every value anew, in one transaction: afterwards
 * nothing opens with the old key, or nothing has changed at all.
 */
import { errorCode } from '../fault.ts';
import type { AccountId, WorkspaceId } from '../ids.ts';
import type { Secret } from '../secret.ts';
import type { Database, Queryable } from './database.ts';
import type { MasterKeys } from './master-keys.ts';
import { type SealContext, Sealer, type SealOwner } from './sealed.ts';
import { preparedText, quoteName, sql } from './sql.ts';

export interface Rotation {
  /** Workspaces and accounts. */
  readonly owners: number;
  readonly values: number;
}

interface SealedColumn {
  readonly table: string;
  readonly column: SealContext['column'];
  readonly isOfWorkspace: boolean;
}

const mostTries = 5;
const deadlock = '40P01';

/**
 * Seals all values anew under new data keys, which the current master key wraps. Somebody who has changed a row and
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
    const owners = await tx.rows<OwnerIds>(sql`
      select distinct workspace_id as "workspaceId", account_id as "accountId" from data_keys`);
    for (const { workspaceId, accountId } of owners) await sealer.newKey(tx, ownerOf(workspaceId, accountId));
    let values = 0;
    for (const column of await sealedColumns(tx)) values += await resealColumn(tx, sealer, column);
    await tx.run(sql`delete from data_keys where retired_at is not null`);
    await tx.run(sql`delete from master_keys where id <> ${keys.current.id}`);
    return { owners: owners.length, values };
  });
}

interface OwnerIds {
  readonly workspaceId: WorkspaceId | null;
  readonly accountId: AccountId | null;
}

function ownerOf(workspaceId: WorkspaceId | null, accountId: AccountId | null): SealOwner {
  if (workspaceId !== null) return { workspaceId };
  if (accountId !== null) return { accountId };
  throw new Error('a sealed value belongs to nobody');
}

async function resealColumn(
  tx: Queryable,
  sealer: Sealer,
  { table, column, isOfWorkspace }: SealedColumn,
): Promise<number> {
  // Names of tables and columns come from the database's own catalogue and cannot be parameters.
  const names = { table: quoteName(table), column: quoteName(column) };
  const ids = isOfWorkspace ? 'workspace_id as "workspaceId"' : 'account_id as "accountId"';
  const select = `select ${ids}, id::text as row, ${names.column} as sealed from ${names.table} where ${names.column} is not null for update`;
  const update = `update ${names.table} set ${names.column} = $1 where ${isOfWorkspace ? 'workspace_id' : 'account_id'} = $2 and id = $3`;
  const rows = await tx.rows<Partial<OwnerIds> & { row: string; sealed: Buffer }>(preparedText(select));
  for (const { workspaceId = null, accountId = null, row, sealed } of rows) {
    const context = { ...ownerOf(workspaceId, accountId), table, row, column };
    const value: Secret = await sealer.open(tx, context, sealed);
    const anew = await sealer.seal(tx, context, value);
    await tx.run(preparedText(update, anew, workspaceId ?? accountId, row));
  }
  return rows.length;
}

function sealedColumns(tx: Queryable): Promise<SealedColumn[]> {
  return tx.rows<SealedColumn>(sql`
    select table_name as table, column_name as column, exists (
        select 1 from information_schema.columns own
        where own.table_schema = current_schema() and own.table_name = c.table_name and own.column_name = 'workspace_id')
      as "isOfWorkspace"
    from information_schema.columns c
    where table_schema = current_schema() and data_type = 'bytea' and right(column_name, 7) = '_sealed'
    order by table_name, column_name`);
}
