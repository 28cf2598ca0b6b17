/** The database of a configuration: by its URL, the embedded one, or that of a running service. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import type { Secret } from '../secret.ts';
import { type DataFolder, layoutOf, openDataFolder } from './data-folder.ts';
import { runningConnection, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';

export interface OpenedDatabase {
  readonly connection: pg.PoolConfig;
  close(): Promise<void>;
}

export interface StartingDatabase extends OpenedDatabase {
  /** When it takes connections, or that it does not start. */
  readonly ready: Promise<void>;
}

/** For the holder of the data folder: by its URL, or else the embedded one, which starts and stops with the caller. */
export async function startDatabase(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  folder: DataFolder,
  log: Logger,
): Promise<StartingDatabase> {
  if (databaseUrl) return { ...byUrl(databaseUrl), ready: Promise.resolve() };
  const { connection, ready, stop } = await startEmbeddedPostgres(folder, log);
  return { connection, ready, close: stop };
}

/** For programs beside the service. `alone` refuses a data folder that a service runs on. */
export async function openDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Logger,
  who: 'alone' | 'running too',
): Promise<OpenedDatabase> {
  // A URL needs no data folder, which may not even be on this machine.
  if (config.databaseUrl) return byUrl(config.databaseUrl);
  try {
    const folder = await openDataFolder(config.dataDir);
    try {
      const { connection, ready, close } = await startDatabase(config, folder, log);
      await ready;
      return { connection, close: () => close().then(() => folder.release()) };
    } catch (error) {
      await folder.release();
      throw error;
    }
  } catch (error) {
    const isRunning = error instanceof Fault && error.code === 'data_folder_in_use';
    if (!isRunning || who === 'alone') throw error;
    return { connection: runningConnection(layoutOf(config.dataDir)), close: async () => undefined };
  }
}

function byUrl(url: Secret): OpenedDatabase {
  return { connection: { connectionString: url.reveal() }, close: async () => undefined };
}
