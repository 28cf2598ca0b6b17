/** Programs of the machine, started with an argument list and never through a composed command line. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

export interface RunOptions {
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Goes on when it was stopped, by whomever. */
  readonly keepAwake?: boolean;
}

/** Runs it to its end and gives what it printed; fails with the last lines of what it said. */
export async function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, args, options);
  if (code === 0) return stdout;
  const said = `${stderr}\n${stdout}`.trim().split('\n').slice(-12).join('\n');
  throw new Error(`\`${[program, ...args].join(' ').slice(0, 300)}\` ended with ${code}:\n${said}`);
}

export interface Outcome {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end, however that ends. Only a program that cannot be started is an error. */
export function attempt(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const { input, cwd, env, timeoutMs, signal, keepAwake = false } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      ...(cwd && { cwd }),
      ...(env && { env: { ...process.env, ...env } }),
      ...(timeoutMs && { timeout: timeoutMs, killSignal: 'SIGKILL' as const }),
      ...(signal && { signal }),
    });
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    const waking = keepAwake ? setInterval(() => child.kill('SIGCONT'), 200) : undefined;
    child.once('error', (error) => {
      clearInterval(waking);
      reject(error);
    });
    child.once('close', (code, signalName) => {
      clearInterval(waking);
      resolve({ code: code ?? signalName ?? 'unknown', stdout: stdout(), stderr: stderr() });
    });
    // A program that ends without reading its input says so by its exit code.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  stream?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}

/** A program that lives no longer than we do: the kernel kills it when this process is gone, however it went. */
export function spawnBound(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...args], options);
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once('exit', resolve));
}
