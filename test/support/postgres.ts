/** A PostgreSQL for tests, and a database of one's own on it. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { createLog } from '../../src/log.ts';
import { openDataFolder } from '../../src/store/data-folder.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';

const urlVariable = 'TEST_POSTGRES_URL';

export interface TestPostgres {
  readonly url: string;
  /** For child processes: makes them use this server instead of starting one. */
  readonly env: Record<string, string>;
  stop(): Promise<void>;
}

export async function startTestPostgres(): Promise<TestPostgres> {
  const path = temporaryFolder('postgres');
  const folder = await openDataFolder(path);
  const server = await startEmbeddedPostgres(folder, createLog('silent'));
  const { host, user, password } = server.connection;
  const url = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(String(host))}`;
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

let shared: Promise<TestPostgres> | undefined;

/** The run's server; a file that is run alone gets one of its own. */
async function sharedUrl(): Promise<string> {
  const given = process.env[urlVariable];
  if (given) return given;
  if (!shared) {
    shared = startTestPostgres();
    after(async () => (await shared)?.stop());
  }
  return (await shared).url;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const server = await sharedUrl();
  const name = `t_${randomBytes(8).toString('hex')}`;
  await command(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => command(server, `drop database ${name} with (force)`) };
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
