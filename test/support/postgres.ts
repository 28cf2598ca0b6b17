/** A PostgreSQL for tests, and a database of one's own on it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLog } from '../../src/log.ts';
import { OperationQueue } from '../../src/operations/queue.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import { connectDatabase } from '../../src/store/database.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded/embedded-postgres.ts';
import { Listener } from '../../src/store/listener.ts';
import { migrate } from '../../src/store/migrate.ts';

const urlVariable = 'TEST_POSTGRES_URL';

export interface TestPostgres {
  readonly url: string;
  /** For child processes: makes them use this server instead of starting one. */
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Nothing of it outlives the run, so it never waits for the disk. Vacuuming is for databases that live: with one for
 * every file that a run makes, it would be at work all the time.
 */
const fast = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  max_connections: '400',
};
/** Migrated once; every test's database is a copy of it. */
const template = 'slipway_template';

export async function startTestPostgres(settings: Record<string, string> = fast): Promise<TestPostgres> {
  const path = temporaryFolder('postgres');
  const folder = await openDataFolder(path);
  const log = createLog('silent');
  const server = await startEmbeddedPostgres(folder, log, settings);
  await server.ready;
  const { host, user, password } = server.connection;
  const url = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(String(host))}`;
  await makeTemplate(url);
  return {
    url,
    env: { [urlVariable]: url },
    stop: async () => {
      await server.stop();
      await folder.release();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(server: string): Promise<void> {
  await command(server, `create database ${template}`);
  const log = createLog('silent');
  const connection = { connectionString: at(server, template) };
  const db = connectDatabase(connection, log);
  await migrate(db, log);
  const queue = new OperationQueue(db, new Listener(connection, log), log);
  await queue.start(() => undefined);
  await queue.stop();
  await db.close();
}

/** The URL of a new database, migrated unless it is to be empty. It goes with the server, which the run ends. */
export async function createTestDatabase(from: 'template' | 'empty' = 'template'): Promise<string> {
  const server = process.env[urlVariable];
  if (!server) throw new Error('There is no PostgreSQL here: run this file with `npm test -- <file>`.');
  const name = `t_${randomBytes(8).toString('hex')}`;
  await command(server, `create database ${name} template ${from === 'empty' ? 'template0' : template}`);
  return at(server, name);
}

function at(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function command(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

export function temporaryFolder(what: string): string {
  return mkdtempSync(join(tmpdir(), `slipway-test-${what}-`));
}
