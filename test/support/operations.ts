/**
 * Shared helpers for operations of any kind: a bench with a database, a world and processes of the service, on
 * which an operation is failed, repeated, killed and stalled. The processes are real, so are their deaths.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId, type OperationId, type WorkspaceId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import type { Json } from '../../src/operations/definition.ts';
import { enqueueOperation, type NewOperation } from '../../src/operations/operations.ts';
import { OperationQueue } from '../../src/operations/queue.ts';
import { connectDatabase, type Database, type Queryable } from '../../src/store/database.ts';
import { Listener } from '../../src/store/listener.ts';
import { sql } from '../../src/store/sql.ts';
import type { Order } from './operation-orders.ts';
import { createTestDatabase, temporaryFolder } from './postgres.ts';
import { hangMs, until } from './until.ts';
import { World } from './world.ts';

export const masterKey = Buffer.alloc(32, 7).toString('base64');

export interface OperationRow {
  readonly state: string;
  readonly fault: { code: string; step: string | null; evidence: string | null } | null;
  readonly epoch: number;
  readonly leaseUntil: Date | null;
  readonly finishedAt: Date | null;
}

export class OperationBench {
  readonly world: World;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly workspaceId: WorkspaceId;
  readonly queue: OperationQueue;
  readonly #t: TestContext;

  private constructor(
    t: TestContext,
    world: World,
    db: Database,
    databaseUrl: string,
    workspaceId: WorkspaceId,
  ) {
    this.#t = t;
    this.world = world;
    this.db = db;
    this.databaseUrl = databaseUrl;
    this.workspaceId = workspaceId;
    const log = createLog('silent');
    this.queue = new OperationQueue(db, new Listener({ connectionString: databaseUrl }, log), log);
  }

  static async open(t: TestContext, on?: string): Promise<OperationBench> {
    const databaseUrl = on ?? (await createTestDatabase());
    const log = createLog('silent');
    const db = connectDatabase({ connectionString: databaseUrl }, log);
    const bench = new OperationBench(t, await World.start(t), db, databaseUrl, await newWorkspace(db));
    t.after(async () => {
      await bench.queue.stop();
      await db.close();
    });
    return bench;
  }

  enqueue(input: Json, more: Partial<NewOperation> = {}): Promise<OperationId> {
    const wish = { workspaceId: this.workspaceId, kind: 'ten-steps', input, ...more };
    return this.db.transaction((tx) => enqueueOperation(tx, this.queue, wish));
  }

  async row(id: OperationId): Promise<OperationRow> {
    const row = await this.db.one<OperationRow>(sql`
      select state, fault, lease_epoch::int as epoch, lease_until as "leaseUntil", finished_at as "finishedAt"
      from operations where id = ${id}`);
    if (!row) throw new Error(`no operation ${id}`);
    return row;
  }

  /** Waits until the row is as wished. */
  async until(id: OperationId, wished: (row: OperationRow) => boolean): Promise<OperationRow> {
    let row: OperationRow | undefined;
    try {
      return await until(async () => {
        row = await this.row(id);
        return wished(row) && row;
      });
    } catch (error) {
      throw new Error(`still ${JSON.stringify(row)}`, { cause: error });
    }
  }

  ended(id: OperationId): Promise<OperationRow> {
    return this.until(id, (row) => row.finishedAt !== null);
  }

  /** Passes when nothing is held and nothing waits any more. */
  async nothingLeft(): Promise<void> {
    await until(async () => {
      const { leases, jobs } = await this.#leftovers();
      return leases + jobs === 0;
    }, 'leases and jobs to be given back');
  }

  async #leftovers(): Promise<{ leases: number; jobs: number }> {
    const held = await this.db.one<{ count: number }>(sql`
      select count(*)::int as count from operations where lease_until is not null or finished_at is null`);
    const [jobs] = await this.db.raw(
      `select count(*)::int as count from pgboss.job where name = 'operations' and state in ('created', 'retry', 'active')`,
    );
    return { leases: held?.count ?? -1, jobs: Number(jobs?.count ?? -1) };
  }

  host(env: Record<string, string> = {}): Promise<Host> {
    return startOperationHost(this.#t, { SLIPWAY_DATABASE_URL: this.databaseUrl, ...env });
  }
}

export interface Host {
  readonly url: string;
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** Breaks the operations that begin there from now on, as told; resolves when it has heard. */
  order(order: Order): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Without `SLIPWAY_DATABASE_URL` it runs on the embedded database; a folder that is given is left to who gave it. */
export async function startOperationHost(t: TestContext, env: Record<string, string>): Promise<Host> {
  const dataDir = temporaryFolder('host');
  const child = spawn(process.execPath, [fileURLToPath(new URL('./operation-host.ts', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      SLIPWAY_MASTER_KEY: masterKey,
      SLIPWAY_DATA_DIR: dataDir,
      SLIPWAY_PORT: '0',
      SLIPWAY_LOG_LEVEL: 'error',
      HOST_LEASE_MS: '1000',
      HOST_LOOK_MS: '100',
      ...env,
    },
  });
  const exited = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  };
  t.after(() => stop('SIGKILL'));
  const order = async (wanted: Order) => {
    const heard = once(child, 'message', { signal: AbortSignal.timeout(hangMs) });
    child.send(wanted);
    await heard;
  };
  if (!child.stdout) throw new Error('the host has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready ')) return { url: line.slice(6), child, exited, order, stop };
  }
  throw new Error('the host ended before it was ready');
}

export async function newWorkspace(db: Database): Promise<WorkspaceId> {
  const id = newId<WorkspaceId>();
  await db.run(sql`insert into workspaces (id, name, created_at) values (${id}, 'bench', now())`);
  return id;
}

/** How many operations of a workspace or a server may run at once, from now on. */
export function setOperationLimit(
  db: Queryable,
  scope: 'workspace' | 'server',
  subjectId: string,
  most: number,
) {
  return db.run(sql`
    insert into operation_limits (scope, subject_id, most) values (${scope}, ${subjectId}, ${most})
    on conflict (scope, subject_id) do update set most = excluded.most`);
}
