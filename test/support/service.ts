/** The service as a process of its own, the way a person starts it, and what it leaves on the machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/commands.ts';
import { hangMs, until } from './until.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Service {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  hasEnded = false;

  constructor(command: readonly [string, ...string[]], env: Record<string, string>) {
    const [program, ...args] = command;
    this.child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      // `close`, not `exit`: only then everything it printed has arrived.
      this.child.once('close', (code, signal) => {
        this.hasEnded = true;
        resolve({ code, signal });
      });
    });
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the service was not started');
    return this.child.pid;
  }

  /** Where it listens, once it says so. */
  async url(): Promise<string> {
    const found = await this.printed(/Slipway is running at (http:\/\/\S+)\/api\/v1\n/);
    return found[1] ?? '';
  }

  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    const what = () => pattern.exec(this.stdout) ?? (this.hasEnded ? null : undefined);
    const found = await until(what, `the service to print ${pattern}, but it printed: ${this.stdout}`);
    if (found) return found;
    throw new Error(`the service ended before it printed ${pattern}: ${this.stdout}${this.stderr}`);
  }

  async kill(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Our own settings must not reach the service under test, nor the test runner's channel; what is compiled may. */
export function cleanEnv(settings: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SLIPWAY_|TEST_|NODE_(?!COMPILE_CACHE))/.test(name),
  );
  const env: Record<string, string> = {};
  for (const [name, value] of kept) if (value !== undefined) env[name] = value;
  return { ...env, SLIPWAY_PORT: '0', SLIPWAY_LOG_LEVEL: 'warn', ...settings };
}

/** As `npm start` does, without npm. */
export const mainCommand: readonly [string, ...string[]] = [
  process.execPath,
  'scripts/run.mjs',
  '--service',
  'src/main.ts',
];

export function startService(settings: Record<string, string>, command = mainCommand): Service {
  return new Service(command, cleanEnv(settings));
}

export interface FoundProcess {
  readonly pid: number;
  /** When it was started, so that another one with the same number is not mistaken for it. */
  readonly startedAt: string;
  readonly command: string;
}

/** Every living process that works in the folder, or was started with its path. */
export function processesOf(folder: string): FoundProcess[] {
  const real = realpathOf(folder);
  const found: FoundProcess[] = [];
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      if (stat[0] === 'Z' || stat[0] === 'X') continue;
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const works = `${readlinkSync(`/proc/${name}/cwd`)}/`.startsWith(`${real}/`);
      if (!works && !command.includes(`${real}/postgres`)) continue;
      found.push({ pid: Number(name), startedAt: stat[19] ?? '', command });
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}

export function isAlive(one: FoundProcess, folder: string): boolean {
  return processesOf(folder).some(({ pid, startedAt }) => pid === one.pid && startedAt === one.startedAt);
}

/** The embedded server's first process, as its own note says. */
export function postmasterOf(dataDir: string): number | undefined {
  try {
    return (
      Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]) || undefined
    );
  } catch {
    return undefined;
  }
}

export async function noneLeft(folder: string, withinMs = hangMs): Promise<void> {
  const shown = () => processesOf(folder).map(({ pid, command }) => `${pid} ${command}`);
  await until(() => shown().length === 0 || undefined, 'its processes to end', withinMs).catch((error) => {
    throw new Error(`left behind: ${shown().join('; ')}`, { cause: error });
  });
}

/** Ends what a failed test has left: the service first, then what runs in its folder. */
export async function endEverything(service: Service | undefined, folder: string): Promise<void> {
  if (service && !service.hasEnded) await service.kill('SIGKILL');
  for (const { pid } of processesOf(folder)) signal(pid, 'SIGKILL');
  await noneLeft(folder);
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

function realpathOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
