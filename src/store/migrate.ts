/**
 * Numbered migrations, one transaction each, never edited once released. A session lock lets several instances
 * start at once: one migrates, the others wait and find nothing left to do.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { Fault } from '../fault.ts';
import type { Database, Queryable } from './database.ts';
import { sql } from './sql.ts';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

// Any number will do, so long as no other program on the same database takes it.
const lockNumber = 7_175_204_400;

export function readMigrations(folder = new URL('./migrations/', import.meta.url)): Migration[] {
  const files = readdirSync(folder).filter((name) => /^\d{4}_\w+\.sql$/.test(name));
  return files.sort().map((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    const checksum = createHash('sha256').update(text).digest('hex');
    return { version: Number(name.slice(0, 4)), name: name.replace(/\.sql$/, ''), text, checksum };
  });
}

export async function migrate(db: Database, log: Logger, migrations = readMigrations()): Promise<void> {
  await db.session(async (connection, client) => {
    await client.query('set statement_timeout = 0');
    await connection.run(sql`select pg_advisory_lock(${lockNumber})`);
    try {
      const pending = await pendingMigrations(connection, migrations);
      for (const migration of pending) {
        await client.query('begin');
        try {
          await client.query(migration.text);
          await connection.run(sql`
            insert into schema_migrations (version, name, checksum)
            values (${migration.version}, ${migration.name}, ${migration.checksum})`);
          await client.query('commit');
        } catch (error) {
          await client.query('rollback');
          throw error;
        }
        log.info({ migration: migration.name }, 'migrated the database');
      }
    } finally {
      await connection.run(sql`select pg_advisory_unlock(${lockNumber})`);
      await client.query('reset statement_timeout');
    }
  });
}

async function pendingMigrations(connection: Queryable, known: Migration[]): Promise<Migration[]> {
  await connection.run(sql`
    create table if not exists schema_migrations (
      version    integer primary key,
      name       text not null,
      checksum   text not null,
      applied_at timestamptz not null default now()
    )`);
  const applied = await connection.rows<{ version: number; name: string; checksum: string }>(
    sql`select version, name, checksum from schema_migrations order by version`,
  );
  const newest = applied.at(-1)?.version ?? 0;
  const ours = known.at(-1)?.version ?? 0;
  if (newest > ours) {
    const message = `The database was made by a newer Slipway: its schema is ${newest}, this one knows up to ${ours}.`;
    throw new Fault('database_newer', `${message} Update Slipway.`);
  }
  for (const each of applied) {
    const migration = known.find((one) => one.version === each.version);
    if (migration?.checksum === each.checksum) continue;
    const message = `The migration ${each.name} in the database is not the one in this code.`;
    throw new Fault('database_changed', `${message} Use the Slipway that made it.`);
  }
  const pending = known.filter((each) => !applied.some(({ version }) => version === each.version));
  const late = pending.find((each) => each.version < newest);
  if (late) {
    const message = `The migration ${late.name} in this code is older than what the database has, and was never applied.`;
    throw new Fault('database_changed', `${message} Use the Slipway that made it.`);
  }
  return pending;
}
