/** Commands on one server: an argument list and bytes in, bytes and an exit code out. */
import { Readable } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { Secret } from '../../secret.ts';
import type { RemoteOutcome, RemoteStream, RunOptions, StreamOptions } from '../remote.ts';
import { ChannelRefused, type Connection } from '../ssh/connection.ts';
import { type Deadline, startDeadline } from '../ssh/deadline.ts';
import type { Link } from '../ssh/link.ts';
import type { ChannelUse } from '../ssh/slots.ts';
import { redactWhole } from './redact.ts';
import { killMarked, RemoteProcess } from './remote-process.ts';
import { sendScript } from './script.ts';
import { openStreams } from './streams.ts';
import { needsSudo, sudoRefused } from './sudo.ts';

const defaultTimeoutMs = 60_000;
const killAgainMs = 30_000;
const defaultOutputBytes = 4 * 1024 * 1024;

export class Commands {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  run(argv: readonly string[], options: RunOptions = {}): Promise<RemoteOutcome> {
    return this.#run(argv, options);
  }

  async output(argv: readonly string[], options: RunOptions = {}): Promise<Buffer> {
    return succeeded(argv, await this.run(argv, options), options);
  }

  runScript(text: string, args: readonly string[], options: RunOptions = {}): Promise<RemoteOutcome> {
    const { argv, preamble } = sendScript(text, args);
    return this.#run(argv, options, preamble);
  }

  async script(text: string, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
    return succeeded(['sh'], await this.runScript(text, args, options), options);
  }

  async #run(argv: readonly string[], options: RunOptions, preamble?: Buffer): Promise<RemoteOutcome> {
    const deadline = startDeadline(argv[0] ?? '', options.timeoutMs ?? defaultTimeoutMs, options.signal);
    try {
      return await this.#start('command', argv, options, deadline, async (process, viaSudo) => {
        const outcome = await finish(process, options, deadline, preamble);
        if (viaSudo && outcome.code === 1 && outcome.stderr.subarray(0, 6).toString() === 'sudo: ')
          throw sudoRefused(redactWhole(outcome.stderr, options.secrets).toString('utf8'));
        return outcome;
      });
    } finally {
      deadline.clear();
    }
  }

  async stream(argv: readonly string[], options: StreamOptions = {}): Promise<RemoteStream> {
    const deadline = startDeadline(argv[0] ?? '', options.timeoutMs ?? defaultTimeoutMs, options.signal);
    const stop = (error: unknown) => {
      deadline.clear();
      throw error;
    };
    const process = await this.#start('stream', argv, options, deadline, async (started) => started).catch(
      stop,
    );
    const streams = openStreams(process);
    void streams.ended.catch(() => undefined).finally(() => deadline.clear());
    return streams;
  }

  /** Whatever happens to the process, its slot is released once it is gone, and not before. */
  async #start<T>(
    use: ChannelUse,
    argv: readonly string[],
    { asRoot = true }: RunOptions,
    deadline: Deadline,
    work: (process: RemoteProcess, viaSudo: boolean) => Promise<T>,
  ): Promise<T> {
    const found = await this.#link.withChannel(this, use, deadline, async (connection, free) => {
      const opened = openProcess(connection, argv, asRoot, deadline);
      try {
        const { process, viaSudo } = await deadline.race(opened);
        this.#watch(connection, process, deadline, free);
        return { process, viaSudo };
      } catch (error) {
        if (deadline.signal.aborted) {
          // The channel may still open, after nobody waits for it any more.
          void opened.then(({ process }) => process.kill(error)).then(free, free);
        } else if (!(error instanceof ChannelRefused)) free();
        throw error;
      }
    });
    return work(found.process, found.viaSudo);
  }

  #watch(connection: Connection, process: RemoteProcess, deadline: Deadline, free: () => void): void {
    const stop = () => void process.kill(deadline.signal.reason);
    deadline.signal.addEventListener('abort', stop, { once: true });
    if (deadline.signal.aborted) stop();
    const over = async () => {
      deadline.signal.removeEventListener('abort', stop);
      if ((await process.killed) === false) this.#killAgain(connection, process);
      free();
    };
    void process.ended.then(over, over);
  }

  /** A server with few sessions has none left for the kill; over a new connection there is one. */
  #killAgain(connection: Connection, process: RemoteProcess): void {
    this.#link.retire(connection);
    if (!connection.isOpen) return;
    this.runScript(killMarked, [process.mark], { timeoutMs: killAgainMs }).catch((error) =>
      this.#link.warn(error, 'a command may still run on the server'),
    );
  }
}

async function openProcess(
  connection: Connection,
  argv: readonly string[],
  asRoot: boolean,
  deadline: Deadline,
) {
  const viaSudo = asRoot && (await needsSudo(connection, deadline));
  return { process: await RemoteProcess.start(connection, argv, viaSudo), viaSudo };
}

async function finish(
  process: RemoteProcess,
  options: RunOptions,
  deadline: Deadline,
  preamble?: Buffer,
): Promise<RemoteOutcome> {
  const { input = '', maxOutputBytes = defaultOutputBytes } = options;
  const { channel } = process;
  const collected = process.collect(maxOutputBytes);
  if (preamble) channel.write(preamble);
  if (input instanceof Readable) feed(process, input);
  else channel.end(input);
  try {
    const exit = await deadline.race(process.ended);
    return { ...exit, ...collected() };
  } finally {
    if (input instanceof Readable) input.destroy();
  }
}

/** A program may end without reading everything; an input that fails must not look like one that has ended. */
function feed(process: RemoteProcess, input: Readable): void {
  input.once('error', (error) => void process.kill(error));
  input.once('close', () => {
    if (!input.readableEnded && !input.errored)
      void process.kill(new Error('the input was closed before its end'));
  });
  input.pipe(process.channel);
}

function succeeded(argv: readonly string[], outcome: RemoteOutcome, { secrets }: RunOptions): Buffer {
  if (outcome.code !== 0) throw commandFailed(argv, outcome, secrets);
  return outcome.stdout;
}

export function commandFailed(
  argv: readonly string[],
  { code, signal, stdout, stderr }: RemoteOutcome,
  secrets?: readonly Secret<string | Buffer>[],
): Fault {
  const how = code === null ? `was ended by ${signal ?? 'a signal'}` : `failed with exit code ${code}`;
  // Before anything is cut off: half a secret would not be found any more.
  const [printed, complained] = [redactWhole(stdout, secrets), redactWhole(stderr, secrets)];
  const output = `${printed.toString('utf8').trimEnd()}\n${complained.toString('utf8').trimEnd()}`;
  return new Fault('remote_failed', `«${argv[0]}» ${how} on the server.`, {
    evidence: output.trim().split('\n').slice(-12).join('\n').slice(-4_000),
  });
}
