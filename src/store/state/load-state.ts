/**
 * Puts a backup of Slipway's own state into an empty database, in one transaction: it is there whole, or the database is
 * as it was. The schema is made as it was then, and brought up to date afterwards.
 */
import type { Logger } from 'pino';
import { Fault } from '../../fault.ts';
import type { Database, Queryable } from '../database.ts';
import type { MasterKeys } from '../master-keys.ts';
import { migrate, readMigrations } from '../migrate.ts';
import { preparedText, quoteName, sql } from '../sql.ts';
import { stateTables } from './dump-state.ts';
import { readStateFile, type StateHead, type StateTable } from './state-file.ts';

const rowsAtOnce = 500;

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/** Before anything is touched. */
export function requireCompatibleState(path: string, head: StateHead, keys: MasterKeys): void {
  const known = readMigrations();
  for (const { version, name, checksum } of head.migrations) {
    const ours = known.find((each) => each.version === version);
    if (ours?.checksum === checksum) continue;
    throw new Fault(
      'state_file_refused',
      `${path} was made by another Slipway: it has the migration ${name}.`,
      {
        hint: 'Use the Slipway that made it, or a newer one.',
      },
    );
  }
  if (head.masterKeys.length === 0 || head.masterKeys.some((id) => keys.find(id))) return;
  throw new Fault(
    'wrong_master_key',
    `${path} was sealed with the master key ${head.masterKeys.join(' or ')}, which is not among ours (${keys.all.map(({ id }) => id).join(', ')}). Set SLIPWAY_MASTER_KEY to that key, or put the master.key of then into the data folder.`,
  );
}

export async function requireEmptyDatabase(db: Database): Promise<void> {
  const found = await db.one<{ found: string | null }>(sql`select to_regclass('accounts')::text as found`);
  if (!found?.found) return;
  const used = await db.one<{ count: string }>(sql`select count(*)::text as count from accounts`);
  if (used?.count === '0') return;
  throw new Fault('state_refused', `This database already holds a Slipway with ${used?.count} accounts.`, {
    hint: 'Restore into an empty data folder (SLIPWAY_DATA_DIR) or an empty database (SLIPWAY_DATABASE_URL), then start the service there.',
  });
}

/** `after` may end what was running when the backup was made; it is part of the same transaction. */
export async function loadState(
  db: Database,
  path: string,
  head: StateHead,
  log: Logger,
  after: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const versions = new Set(head.migrations.map(({ version }) => version));
  await migrate(
    db,
    log,
    readMigrations().filter(({ version }) => versions.has(version)),
  );
  await db.transaction(async (tx) => {
    await tx.raw('set local statement_timeout = 0');
    await tx.raw('set local idle_in_transaction_session_timeout = 0');
    const tables = await stateTables(tx);
    const keys = await foreignKeys(tx);
    // Rows come table by table; what they refer to may come later. Put back, the keys check every row.
    for (const { table, name } of keys)
      await tx.raw(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`);
    for (const { table } of tables) {
      await tx.raw(`alter table ${quoteName(table)} disable trigger user`);
      await tx.raw(`delete from ${quoteName(table)}`);
    }
    await insertAll(tx, path, new Set(tables.map(({ table }) => table)));
    for (const { table } of tables) await tx.raw(`alter table ${quoteName(table)} enable trigger user`);
    for (const { table, name, definition } of keys)
      await tx.raw(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`);
    for (const { name, value, isCalled } of head.sequences)
      await tx.run(sql`select setval(quote_ident(${name})::regclass, ${value}::text::bigint, ${isCalled})`);
    await after(tx);
  });
  await migrate(db, log);
  await db.raw('analyze');
}

async function insertAll(tx: Queryable, path: string, known: ReadonlySet<string>): Promise<void> {
  let at: StateTable | undefined;
  let waiting: string[] = [];
  const flush = async () => {
    if (at && waiting.length > 0) await insertRows(tx, at, waiting);
    waiting = [];
  };
  for await (const line of readStateFile(path)) {
    if (line.is === 'head') continue;
    if (line.is === 'table') {
      await flush();
      at = line.table;
      if (!known.has(at.table))
        throw new Error(`a backup with the table ${at.table}, which no migration made`);
      continue;
    }
    waiting.push(line.json);
    if (waiting.length >= rowsAtOnce) await flush();
  }
  await flush();
}

async function insertRows(
  tx: Queryable,
  { table, columns }: StateTable,
  rows: readonly string[],
): Promise<void> {
  const list = columns.map(quoteName).join(', ');
  const into = quoteName(table);
  await tx.run(
    preparedText(
      `insert into ${into} (${list}) overriding system value select ${list} from json_populate_recordset(null::${into}, $1::json)`,
      `[${rows.join(',')}]`,
    ),
  );
}

function foreignKeys(tx: Queryable): Promise<ForeignKey[]> {
  return tx.rows<ForeignKey>(sql`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace and k.conparentid = 0
    order by c.relname, k.conname`);
}
