/**
 * Starts git. Owns the environment and the settings that every process gets, and its end. Nothing of the machine's,
 * of a user's or of a repository's configuration plays a part; no hook, filter, pager, editor or prompt can be run.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, Fault } from '../../fault.ts';

/** Handed over by the environment, where it wins over whatever stands in a repository's own file. */
const settings: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  // A mirror can be fetched again: waiting for the disk costs more than the rare rebuild after a power cut.
  'core.fsync': 'none',
  'core.alternateRefsCommand': 'true',
  // Larger blobs are streamed instead of being held in memory.
  'core.bigFileThreshold': '16m',
  // Packs are looked at through windows, so that a large one fits below the limit of memory.
  'core.packedGitLimit': '256m',
  'core.packedGitWindowSize': '32m',
  // Each thread of a repack or of a fetch has memory of its own.
  'pack.threads': '2',
  'pack.windowMemory': '64m',
  // Empties the list of those that a repository's own file may name.
  'credential.helper': '',
  'fetch.fsckObjects': 'false',
  'fetch.recurseSubmodules': 'false',
  'fetch.showForcedUpdates': 'false',
  // One pack for each fetch; thousands of small files are slower, and cannot be swept up.
  'fetch.unpackLimit': '1',
  'fetch.uriProtocols': '',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '30',
  'maintenance.auto': 'false',
  'protocol.allow': 'never',
  'protocol.ext.allow': 'never',
  'protocol.version': '2',
  'submodule.recurse': 'false',
  'transfer.bundleURI': 'false',
  'transfer.credentialsInUrl': 'die',
};

const mostOutput = 64 * 1024 * 1024;
const mostSaid = 8_000;
/** Of every process. What a repository makes of git is the work of whoever wrote it, and must not be the machine's end. */
const mostMemoryBytes = 2 * 2 ** 30;
const mostProcessorSeconds = 30 * 60;

/**
 * Constant. Limits that the machine does not know are left out; the exit code of a shell that finds no git is 127. They are
 * soft ones: git does not raise them, and what of ours it starts may.
 */
const limited = 'ulimit -S -v "$1" 2>/dev/null; ulimit -S -t "$2" 2>/dev/null; shift 2; exec git "$@"';
const notFound = 127;

export type Setting = readonly [name: string, value: string];

export interface GitRun {
  readonly args: readonly string[];
  /** The bare repository. */
  readonly dir?: string;
  /** After our own; git takes some of them, like `credential.helper`, as a list. */
  readonly settings?: readonly Setting[];
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** With a channel of its own on file descriptor 3, which the processes that git starts inherit. */
  readonly withChannel?: boolean;
  readonly onSaid?: (text: string) => void;
  readonly memoryBytes?: number;
}

export interface GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly channel: Duplex | undefined;
  /** The end of what it printed as errors, so far. */
  said(): string;
  /** Resolves when it has ended and all it wrote was read. Rejects where git could not be started. */
  readonly ended: Promise<number | null>;
  /** Ends it with all it started. */
  kill(): void;
}

export class GitFailure extends Error {
  readonly exitCode: number | null;
  readonly said: string;

  constructor(what: string, exitCode: number | null, said: string) {
    super(`git ${what} ended with ${exitCode ?? 'a signal'}`);
    this.name = 'GitFailure';
    this.exitCode = exitCode;
    this.said = said;
  }
}

/** It was ended because it printed more than anyone takes in. */
export class TooMuchOutput extends Fault {}

export function startGit(run: GitRun): GitProcess {
  run.signal?.throwIfAborted();
  // In a group of its own, because git starts further processes that have to end with it.
  const memory = Math.floor((run.memoryBytes ?? mostMemoryBytes) / 1024);
  const args = ['-c', limited, 'sh', String(memory), String(mostProcessorSeconds), ...run.args];
  const child = spawn('/bin/sh', args, {
    env: environmentOf(run),
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', ...(run.withChannel ? (['pipe'] as const) : [])],
    cwd: '/',
  });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-mostSaid);
    run.onSaid?.(text);
  });
  const end = () => child.pid !== undefined && kill(-child.pid);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(whyNotStarted(error)));
    child.once('close', (code) =>
      code === notFound ? reject(whyNotStarted(new Error(said))) : resolve(code),
    );
  });
  run.signal?.addEventListener('abort', end, { once: true });
  const stopListening = () => run.signal?.removeEventListener('abort', end);
  ended.then(stopListening, stopListening);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Fault('git_unavailable', 'git was started without its streams.');
  // A process that ends early closes its input; why it ended is in its exit code.
  stdin.on('error', () => undefined);
  const third = child.stdio[3];
  const channel = third instanceof Duplex ? third : undefined;
  channel?.on('error', () => undefined);
  return { stdin, stdout, channel, said: () => said, ended, kill: end };
}

/** Runs it to its end and gives what it printed. Fails with a GitFailure unless it succeeds. */
export async function runGit(
  run: GitRun & { readonly input?: string | Buffer; readonly maxOutputBytes?: number },
): Promise<Buffer> {
  const git = startGit(run);
  git.stdin.end(run.input ?? '');
  const most = run.maxOutputBytes ?? mostOutput;
  const chunks: Buffer[] = [];
  let size = 0;
  git.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) git.kill();
    else chunks.push(chunk);
  });
  const code = await git.ended;
  run.signal?.throwIfAborted();
  if (size > most) throw new TooMuchOutput('git_failed', `git gave more than ${most} bytes.`);
  if (code !== 0) throw new GitFailure(run.args[0] ?? '', code, git.said());
  return Buffer.concat(chunks);
}

function environmentOf({ dir, settings: more = [], env = {} }: GitRun): Record<string, string> {
  const all = [...Object.entries(settings), ...more];
  const given: Record<string, string> = { GIT_CONFIG_COUNT: String(all.length) };
  for (const [index, [name, value]] of all.entries()) {
    given[`GIT_CONFIG_KEY_${index}`] = name;
    given[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_ADVICE: '0',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // A folder named like this is taken as it is: git neither looks around for one nor asks whose it is.
    ...(dir === undefined ? {} : { GIT_DIR: dir }),
    ...given,
    ...env,
  };
}

/** A negative number stands for a process group. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error; // it has ended meanwhile, which is what we want
  }
}

function whyNotStarted(cause: Error): Fault {
  return new Fault('git_unavailable', 'The program git cannot be started on the machine of the service.', {
    hint: 'Install git 2.37 or newer, and see that it is found in PATH.',
    evidence: cause.message,
    cause,
  });
}

/** `http.curloptResolve`, which pins the address, came with this one. */
const leastVersion = [2, 37] as const;

/** Whether the machine has a git that we can work with. */
export async function requireGit(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const text = (await runGit({ args: ['version'], env })).toString().trim();
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(text) ?? [];
  const [a, b] = [Number(major), Number(minor)];
  if (a > leastVersion[0] || (a === leastVersion[0] && b >= leastVersion[1])) return;
  throw new Fault('git_unavailable', `The git on the machine of the service is too old: ${text}.`, {
    hint: `Install git ${leastVersion.join('.')} or newer.`,
  });
}

/**
 * Ends every process of git that outlived a killed service and works on a repository below the folder. Whoever calls
 * holds the mirror's lock, so no living service needs them.
 */
export async function stopOrphans(folder: string): Promise<void> {
  for (;;) {
    const left = processesOn(folder);
    if (left.length === 0) return;
    left.forEach(kill);
    await sleep(10);
  }
}

function processesOn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => pid !== String(process.pid) && worksOn(pid, folder)).map(Number);
}

function worksOn(pid: string, folder: string): boolean {
  try {
    // One that has ended and was not collected yet has an empty environment.
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return environment.some((each) => each.startsWith(`GIT_DIR=${Buffer.from(folder).toString('latin1')}`));
  } catch {
    return false; // it has ended meanwhile, or belongs to another user
  }
}
