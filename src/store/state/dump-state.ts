/** Slipway's own state as lines, in one snapshot of its database: every table of ours with every row. */
import { createWriteStream, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { Fault } from '../../fault.ts';
import type { Database, Queryable } from '../database.ts';
import { fsyncFolder } from '../files.ts';
import { quoteName, sql } from '../sql.ts';
import {
  type StateCounts,
  type StateHead,
  type StateTable,
  stateFormat,
  withChecksum,
} from './state-file.ts';

const rowsAtOnce = 500;

/** Atomic: written to a temporary file, synced, then renamed. Never over another file. */
export async function dumpState(
  db: Database,
  to: string,
  now: Date,
  onTable: (table: string) => void,
): Promise<StateCounts> {
  const path = resolve(to);
  const draft = `${path}.${process.pid}.new`;
  const file = openSync(draft, 'wx', 0o600);
  const counts = { tables: 0, rows: 0 };
  try {
    await db.session(async (connection, client) => {
      await client.query('begin isolation level repeatable read, read only');
      // A slow disk must not cost the snapshot.
      await client.query('set local statement_timeout = 0');
      await client.query('set local idle_in_transaction_session_timeout = 0');
      try {
        const lines = withChecksum(stateLines(connection, now, counts, onTable));
        const zstd = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
        const out = createWriteStream('', { fd: file, autoClose: false });
        await pipeline(Readable.from(lines), zstd, out);
      } finally {
        await client.query('rollback');
      }
    });
    fsyncSync(file);
    renameSync(draft, path);
    fsyncFolder(dirname(path));
    return counts;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

async function* stateLines(
  tx: Queryable,
  now: Date,
  counts: { tables: number; rows: number },
  onTable: (table: string) => void,
): AsyncIterable<string> {
  yield `# ${JSON.stringify(await readHead(tx, now))}`;
  for (const table of await stateTables(tx)) {
    counts.tables += 1;
    onTable(table.table);
    yield `# ${JSON.stringify(table)}`;
    for await (const row of rowsOf(tx, table)) {
      counts.rows += 1;
      yield row;
    }
  }
}

async function readHead(tx: Queryable, now: Date): Promise<StateHead> {
  const known = await tx.one<{ found: string | null }>(sql`
    select to_regclass('schema_migrations')::text as found`);
  if (!known?.found) {
    throw new Fault('state_refused', 'This database holds no Slipway.', {
      hint: 'Check SLIPWAY_DATA_DIR or SLIPWAY_DATABASE_URL: there is nothing to back up.',
    });
  }
  const migrations = await tx.rows<StateHead['migrations'][number]>(sql`
    select version, name, checksum from schema_migrations order by version`);
  const keys = await tx.rows<{ id: string }>(sql`select id from master_keys order by id`);
  const sequences = await tx.rows<StateHead['sequences'][number]>(sql`
    select sequencename as name, coalesce(last_value, start_value)::text as value,
      last_value is not null as "isCalled"
    from pg_sequences where schemaname = current_schema() order by sequencename`);
  const masterKeys = keys.map(({ id }) => id);
  return {
    slipway: 'state',
    format: stateFormat,
    createdAt: now.toISOString(),
    migrations,
    masterKeys,
    sequences,
  };
}

/** All but the list of migrations, which is made by migrating. */
export function stateTables(tx: Queryable): Promise<StateTable[]> {
  return tx.rows<StateTable>(sql`
    select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
      and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations'
    group by c.relname order by c.relname`);
}

/** By a cursor: a table may be larger than our memory. */
async function* rowsOf(tx: Queryable, { table, columns }: StateTable): AsyncIterable<string> {
  const list = columns.map(quoteName).join(', ');
  await tx.raw(
    `declare state_rows no scroll cursor for select row_to_json(each)::text as json from (select ${list} from ${quoteName(table)}) each`,
  );
  for (;;) {
    const rows = await tx.raw(`fetch ${rowsAtOnce} from state_rows`);
    // A value of type json keeps the line breaks between its parts; inside its texts there are none.
    for (const { json } of rows) yield String(json).replaceAll('\n', ' ');
    if (rows.length < rowsAtOnce) break;
  }
  await tx.raw('close state_rows');
}
