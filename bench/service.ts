/** The service as a process of its own, for measuring; stopped by its own pid. `BENCH_LOG` is a file for what it logs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/free-port.ts';

export const root = fileURLToPath(new URL('..', import.meta.url));

export interface Service {
  readonly url: string;
  readonly dataDir: string;
  readonly process: ChildProcess;
  /** From the spawn to the first answer. */
  readonly startMs: number;
  stop(options?: { keepData?: boolean }): Promise<void>;
}

export interface ServiceOptions {
  /** What to run; the service without npm, unless said otherwise. */
  readonly command?: readonly [string, ...string[]];
  readonly dataDir?: string;
  readonly env?: Record<string, string>;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const port = await freePort();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const [program, ...args] = options.command ?? [
    process.execPath,
    'scripts/run.mjs',
    '--service',
    'src/main.ts',
  ];
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', process.env.BENCH_LOG ? openSync(process.env.BENCH_LOG, 'a') : 'ignore', 'inherit'],
    env: {
      ...process.env,
      SLIPWAY_PORT: String(port),
      SLIPWAY_DATA_DIR: dataDir,
      SLIPWAY_LIMIT_REQUESTS: '1000000',
      SLIPWAY_LIMIT_SIGN_IN: '1000000',
      SLIPWAY_LIMIT_STREAMS: '1000000',
      SLIPWAY_LIMIT_STREAMS_TOTAL: '1000000',
      ...options.env,
    },
  });
  while (!(await answers(`${url}/healthz`))) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
  }
  const startMs = performance.now() - began;
  return {
    url,
    dataDir,
    process: child,
    startMs,
    stop: async ({ keepData = false } = {}) => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      // npm dies at once and does not wait for what it started; told from below, it does.
      process.kill(servicePid(child.pid ?? 0), 'SIGTERM');
      await ended;
      if (!keepData) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The process itself, or the one that npm started. */
function servicePid(pid: number): number {
  const [below] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return below && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('npm') ? below : pid;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return false;
  }
}
