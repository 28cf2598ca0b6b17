/**
 * The ground floor. Owns the data folder, the database with its schema, and the keys. Everything above speaks
 * to PostgreSQL through it; it knows nothing of what the tables mean. Refuses to open what it cannot trust:
 * a folder in use, a database that is newer or too old, a master key that does not fit.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { errorText, Fault } from '../fault.ts';
import { type DataFolder, openDataFolder } from './data-folder.ts';
import { connectDatabase, type Database } from './database.ts';
import { Listener } from './listener.ts';
import { checkMasterKeys, loadMasterKeys, type MasterKeys } from './master-keys.ts';
import { migrate } from './migrate.ts';
import { startDatabase } from './open-database.ts';
import { Sealer } from './sealed.ts';
import { sql } from './sql.ts';

const minServerVersion = 150_000;
/** One beside us may still start, or be the wrong one; our own is there, and a busy machine is slow to let anyone in. */
const reachTimeoutMs = { named: 10_000, embedded: 60_000 } as const;

export interface Store {
  readonly folder: DataFolder;
  readonly db: Database;
  /** Whoever holds the data folder is alone on the embedded database: a predecessor's leases are those of a dead process. */
  readonly isSole: boolean;
  readonly masterKeys: MasterKeys;
  readonly sealer: Sealer;
  readonly listener: Listener;
  /** When the database takes statements, with its schema; or why it is not opened. Nothing is asked of it before. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

type StoreConfig = Pick<Config, 'dataDir' | 'databaseUrl' | 'masterKeys'>;

export async function openStore(config: StoreConfig, log: Logger): Promise<Store> {
  const folder = await openDataFolder(config.dataDir);
  const undo: (() => Promise<void>)[] = [() => folder.release()];
  const closeAll = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const masterKeys = loadMasterKeys(folder.masterKeyFile, config.masterKeys);
    const { connection, ready: started, close: stopDatabase } = await startDatabase(config, folder, log);
    undo.push(stopDatabase);
    const db = connectDatabase(connection, log);
    undo.push(() => db.close());
    const listener = new Listener(connection, log);
    undo.push(() => listener.stop());
    const isSole = config.databaseUrl === undefined;
    const ready = started.then(async () => {
      await requireRecentServer(db, isSole ? 'embedded' : 'named');
      await migrate(db, log);
      await checkMasterKeys(db, masterKeys);
    });
    const settled = ready.catch(() => undefined); // told to whoever waits for `ready`
    const close = () => settled.then(closeAll);
    return { folder, db, isSole, masterKeys, sealer: new Sealer(masterKeys), listener, ready, close };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function requireRecentServer(db: Database, which: keyof typeof reachTimeoutMs): Promise<void> {
  const deadline = Date.now() + reachTimeoutMs[which];
  for (;;) {
    try {
      const found = await db.one<{ version: number }>(sql`
        select current_setting('server_version_num')::int as version`);
      if (found && found.version >= minServerVersion) return;
      const major = Math.floor((found?.version ?? 0) / 10_000);
      throw new Fault(
        'database_too_old',
        `The PostgreSQL server is version ${major}; Slipway needs 15 or later.`,
      );
    } catch (error) {
      if (error instanceof Fault && error.code === 'database_too_old') throw error;
      const isUnavailable = error instanceof Fault && error.code === 'database_unavailable';
      if (!isUnavailable || Date.now() > deadline) {
        const why = isUnavailable ? (error.evidence ?? error.message) : errorText(error);
        const server =
          which === 'embedded' ? 'embedded PostgreSQL' : 'PostgreSQL server named by SLIPWAY_DATABASE_URL';
        const message = `The ${server} cannot be used: ${why}.`;
        throw new Fault('database_unreachable', message, { cause: error });
      }
      await sleep(200);
    }
  }
}
