/** The way to the database of a configuration: one that is named, the embedded one, or the one of a running service. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import type { Secret } from '../secret.ts';
import { type DataFolder, layoutOf, openDataFolder } from './data-folder.ts';
import { runningConnection, startEmbeddedPostgres } from './embedded/embedded-postgres.ts';

export interface ReachedDatabase {
  readonly connection: pg.PoolConfig;
  close(): Promise<void>;
}

/** Of a data folder that the caller holds: the one that is named, or else the folder's own, which starts and stops with the caller. */
export async function databaseOf(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  folder: DataFolder,
  log: Logger,
): Promise<ReachedDatabase> {
  if (databaseUrl) return named(databaseUrl);
  const embedded = await startEmbeddedPostgres(folder, log);
  return { connection: embedded.connection, close: () => embedded.stop() };
}

/** For those beside the service. `alone` refuses a data folder that a service runs on. */
export async function reachDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Logger,
  who: 'alone' | 'running too',
): Promise<ReachedDatabase> {
  // A named one needs no folder of ours, which may not even be on this machine.
  if (config.databaseUrl) return named(config.databaseUrl);
  try {
    const folder = await openDataFolder(config.dataDir);
    try {
      const { connection, close } = await databaseOf(config, folder, log);
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

function named(url: Secret): ReachedDatabase {
  return { connection: { connectionString: url.reveal() }, close: async () => undefined };
}
