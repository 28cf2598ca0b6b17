/** The way to the database of a configuration: one that is named, the embedded one, or the one of a running service. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { Fault } from '../fault.ts';
import { layoutOf, openDataFolder } from './data-folder.ts';
import { runningConnection, startEmbeddedPostgres } from './embedded-postgres.ts';

export interface ReachedDatabase {
  readonly connection: pg.PoolConfig;
  close(): Promise<void>;
}

/** `alone` refuses a data folder that a service runs on. */
export async function reachDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  log: Logger,
  who: 'alone' | 'running too',
): Promise<ReachedDatabase> {
  if (config.databaseUrl) {
    return { connection: { connectionString: config.databaseUrl.reveal() }, close: async () => undefined };
  }
  try {
    const folder = await openDataFolder(config.dataDir);
    try {
      const embedded = await startEmbeddedPostgres(folder, log);
      const close = async () => {
        await embedded.stop();
        await folder.release();
      };
      return { connection: embedded.connection, close };
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
