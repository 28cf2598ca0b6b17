/** Two processes of the service on one database: where one is killed, the other goes on, and it is started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { masterKey } from '../support/operations.ts';
import { temporaryFolder } from '../support/postgres.ts';
import { cleanEnv } from '../support/service.ts';
import { until } from '../support/until.ts';

/** Short, so that a kill costs seconds; long enough that a busy machine loses none. */
export const usualLeaseMs = 4_000;

export class Host {
  readonly dataDir = temporaryFolder('host');
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  /** What it printed, all lives together. */
  said = '';
  url = '';
  /** Told to stand still: it answers nobody. */
  isStalled = false;

  constructor(env: Record<string, string>) {
    this.#env = { ...env, SLIPWAY_DATA_DIR: this.dataDir };
  }

  get pid(): number | undefined {
    return this.isAlive ? this.#child?.pid : undefined;
  }

  get isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** On the same data folder as before: a process that was killed must not have left it unusable. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [fileURLToPath(new URL('./host.ts', import.meta.url))], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: cleanEnv(this.#env),
    });
    this.#child = child;
    let life = '';
    const hear = (text: string) => {
      life += text;
      this.said += text;
    };
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', hear);
    const ready = await until(
      () => /^ready (\S+)$/m.exec(life) ?? (this.isAlive ? undefined : null),
      'a process of the service to start',
    );
    if (!ready) throw new Error(`the service ended before it was ready: ${life}`);
    this.url = ready[1] ?? '';
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || !this.isAlive) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await gone;
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Goes on after a standstill, until it has seen that its work is somebody else's. */
  async wake(withinMs: number): Promise<void> {
    const before = this.said.length;
    this.#child?.kill('SIGCONT');
    this.isStalled = false;
    await until(
      () => this.said.slice(before).includes('"outcome":"given up"') || undefined,
      'the worker that stood still to give up',
      withinMs,
    );
  }

  remove(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

export function hostSettings(
  databaseUrl: string,
  ordersFolder: string,
  leaseMs: number,
): Record<string, string> {
  return {
    SLIPWAY_DATABASE_URL: databaseUrl,
    SLIPWAY_MASTER_KEY: masterKey,
    SLIPWAY_PORT: '0',
    SLIPWAY_LOG_LEVEL: 'info',
    SLIPWAY_ALLOW_PRIVATE_EGRESS: 'on',
    SLIPWAY_LIMIT_SIGN_IN: '100000',
    SLIPWAY_LIMIT_REQUESTS: '1000000',
    SLIPWAY_LIMIT_TRIGGERS: '1000000',
    SLIPWAY_LIMIT_TESTS: '1000000',
    FAULTS_ORDERS: ordersFolder,
    // They are started again and again: what is compiled once is not compiled at every start.
    NODE_COMPILE_CACHE: join(ordersFolder, 'compiled'),
    FAULTS_LEASE_MS: String(leaseMs),
  };
}
