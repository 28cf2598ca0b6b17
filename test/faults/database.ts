/** A PostgreSQL that can be taken away for a while, with everything in it kept. */
import { rmSync } from 'node:fs';
import { createLog } from '../../src/log.ts';
import { type DataFolder, openDataFolder } from '../../src/store/data-folder.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/store/embedded/embedded-postgres.ts';
import { temporaryFolder } from '../support/postgres.ts';

export class TrialDatabase {
  readonly #folder: DataFolder;
  #server: EmbeddedPostgres;

  private constructor(folder: DataFolder, server: EmbeddedPostgres) {
    this.#folder = folder;
    this.#server = server;
  }

  static async open(): Promise<TrialDatabase> {
    const folder = await openDataFolder(temporaryFolder('faults'));
    const server = await startEmbeddedPostgres(folder, createLog('silent'));
    await server.ready;
    return new TrialDatabase(folder, server);
  }

  get url(): string {
    const { host, user, password } = this.#server.connection;
    return `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(String(host))}`;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async start(): Promise<void> {
    this.#server = await startEmbeddedPostgres(this.#folder, createLog('silent'));
    await this.#server.ready;
  }

  async remove(): Promise<void> {
    await this.#server.stop();
    await this.#folder.release();
    rmSync(this.#folder.path, { recursive: true, force: true });
  }
}
