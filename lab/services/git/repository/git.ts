/**
 * Starts git for the host. Owns the environment and settings every process gets and the end of every process;
 * refuses to run anything a repository brings along: no hook, no configuration of the machine or of a user.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Given on the command line, where it wins over whatever stands in a repository's own file. */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.alternateRefsCommand=true',
  'log.showSignature=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'receive.autogc=false',
  // Whether somebody may push is decided before git is started.
  'http.receivepack=true',
  'uploadpack.allowFilter=true',
  'uploadpack.allowAnySHA1InWant=true',
];

const endGraceMs = 5_000;
const mostOutput = 512 * 1024 * 1024;

export class GitError extends Error {
  readonly code: number | null;
  constructor(what: string, code: number | null, said: string) {
    super(`git ${what} ended with ${code ?? 'a signal'}: ${said.trim() || 'it said nothing'}`);
    this.name = 'GitError';
    this.code = code;
  }
}

export type GitProcess = ChildProcessWithoutNullStreams;

export class Git {
  readonly #running = new Set<GitProcess>();

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): GitProcess {
    const options = settings.flatMap((setting) => ['-c', setting]);
    // In a group of its own, because git starts further processes that have to end with it.
    const child = spawn('git', [...options, ...args], {
      env: { ...cleanEnvironment(), ...env },
      detached: true,
    });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    return child;
  }

  /** Ends the process and all it started; safe to call for one that has ended. */
  end(child: GitProcess): void {
    if (!this.#running.has(child) || child.pid === undefined) return;
    signalGroup(child.pid, 'SIGTERM');
    const late = setTimeout(() => this.#running.has(child) && signalGroup(child.pid, 'SIGKILL'), endGraceMs);
    child.once('close', () => clearTimeout(late));
  }

  async run(
    args: readonly string[],
    input: string | Buffer = '',
    env: Readonly<Record<string, string>> = {},
  ): Promise<Buffer> {
    const child = this.start(args, env);
    child.stdin.on('error', ignoreBrokenPipe);
    child.stdin.end(input);
    return collect(child, args[2] ?? 'git', () => this.end(child));
  }

  async close(): Promise<void> {
    const ended = [...this.#running].map(async (child) => {
      const closed = once(child, 'close');
      this.end(child);
      await closed;
    });
    await Promise.all(ended);
  }
}

/** One bare repository on the disk. */
export class BareRepository {
  readonly git: Git;
  readonly dir: string;
  constructor(git: Git, dir: string) {
    this.git = git;
    this.dir = dir;
  }

  run(args: readonly string[], input: string | Buffer = ''): Promise<Buffer> {
    return this.git.run(['--git-dir', this.dir, ...args], input);
  }

  start(args: readonly string[]): GitProcess {
    return this.git.start(['--git-dir', this.dir, ...args]);
  }

  /** Of all its objects, packed and loose. */
  bytes(): number {
    const files = globSync('objects/*/*', { cwd: this.dir });
    return files.reduce(
      (sum, file) => sum + (statSync(join(this.dir, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }
}

async function collect(child: GitProcess, what: string, end: () => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutput) end();
    else chunks.push(chunk);
  });
  const code = await exitCode(child);
  if (size > mostOutput) throw new Error(`git ${what} gave more than ${mostOutput} bytes.`);
  if (code !== 0) throw new GitError(what, code, said);
  return Buffer.concat(chunks);
}

/** Resolves when the process has ended and all it wrote was read. */
export function exitCode(child: GitProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
}

/** A process that ends early closes its input; why it ended is in its exit code. */
export function ignoreBrokenPipe(error: Error): void {
  const expected =
    'code' in error && ['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED'].includes(String(error.code));
  if (!expected) throw error;
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // It ended between the look and the signal.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function cleanEnvironment(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // A path in a request is a path, never a pattern.
    GIT_LITERAL_PATHSPECS: '1',
  };
}
