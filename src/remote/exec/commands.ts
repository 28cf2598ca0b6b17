/** Commands on one server: an argument list and bytes in, bytes and an exit code out. */
import { Readable } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { Secret } from '../../secret.ts';
import type { RemoteOutcome, RemoteStream, RunOptions, StreamOptions } from '../remote.ts';
import { ChannelRefused, type Connection } from '../ssh/connection.ts';
import { type Limit, startLimit } from '../ssh/deadline.ts';
import type { Link } from '../ssh/link.ts';
import type { ChannelUse } from '../ssh/slots.ts';
import { collect } from './collect.ts';
import { redactWhole } from './redact.ts';
import { killMarked, RemoteProcess } from './remote-process.ts';
import { needsSudo, sudoRefused } from './root.ts';
import { sendScript } from './script.ts';
import { openStreams } from './streams.ts';

const defaultLimitMs = 60_000;
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
    const { argv, lead } = sendScript(text, args);
    return this.#run(argv, options, lead);
  }

  async script(text: string, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
    return succeeded(['sh'], await this.runScript(text, args, options), options);
  }

  async #run(argv: readonly string[], options: RunOptions, lead?: Buffer): Promise<RemoteOutcome> {
    const limit = startLimit(argv[0] ?? '', options.timeoutMs ?? defaultLimitMs, options.signal);
    try {
      return await this.#start('command', argv, options, limit, async (process, viaSudo) => {
        const outcome = await finish(process, options, limit, lead);
        if (viaSudo && outcome.code === 1 && outcome.stderr.subarray(0, 6).toString() === 'sudo: ')
          throw sudoRefused(redactWhole(outcome.stderr, options.secrets).toString('utf8'));
        return outcome;
      });
    } finally {
      limit.done();
    }
  }

  async stream(argv: readonly string[], options: StreamOptions = {}): Promise<RemoteStream> {
    const limit = startLimit(argv[0] ?? '', options.timeoutMs ?? defaultLimitMs, options.signal);
    const stop = (error: unknown) => {
      limit.done();
      throw error;
    };
    const process = await this.#start('stream', argv, options, limit, async (started) => started).catch(stop);
    const streams = openStreams(process);
    void streams.ended.catch(() => undefined).finally(() => limit.done());
    return streams;
  }

  /** Whatever happens to the process, its place is given back once it is gone, and not before. */
  async #start<T>(
    use: ChannelUse,
    argv: readonly string[],
    { asRoot = true }: RunOptions,
    limit: Limit,
    work: (process: RemoteProcess, viaSudo: boolean) => Promise<T>,
  ): Promise<T> {
    const found = await this.#link.withPlace(this, use, limit, async (connection, free) => {
      const opened = openProcess(connection, argv, asRoot, limit);
      try {
        const { process, viaSudo } = await limit.race(opened);
        this.#watch(connection, process, limit, free);
        return { process, viaSudo };
      } catch (error) {
        if (limit.signal.aborted) {
          // The channel may still open, after nobody waits for it any more.
          void opened.then(({ process }) => process.kill(error)).then(free, free);
        } else if (!(error instanceof ChannelRefused)) free();
        throw error;
      }
    });
    return work(found.process, found.viaSudo);
  }

  #watch(connection: Connection, process: RemoteProcess, limit: Limit, free: () => void): void {
    const stop = () => void process.kill(limit.signal.reason);
    limit.signal.addEventListener('abort', stop, { once: true });
    if (limit.signal.aborted) stop();
    const over = async () => {
      limit.signal.removeEventListener('abort', stop);
      if ((await process.killed) === false) this.#killAgain(connection, process);
      free();
    };
    void process.ended.then(over, over);
  }

  /** A server with few sessions has none left for ending what runs; over a new connection there is one. */
  #killAgain(connection: Connection, process: RemoteProcess): void {
    this.#link.retire(connection);
    if (!connection.isOpen) return;
    this.runScript(killMarked, [process.mark], { timeoutMs: killAgainMs }).catch((error) =>
      this.#link.tell(error, 'a command may still run on the server'),
    );
  }
}

async function openProcess(connection: Connection, argv: readonly string[], asRoot: boolean, limit: Limit) {
  const viaSudo = asRoot && (await needsSudo(connection, limit));
  return { process: await RemoteProcess.start(connection, argv, viaSudo), viaSudo };
}

async function finish(
  process: RemoteProcess,
  options: RunOptions,
  limit: Limit,
  lead?: Buffer,
): Promise<RemoteOutcome> {
  const { input = '', maxOutputBytes = defaultOutputBytes } = options;
  const { channel } = process;
  const collected = collect(process, maxOutputBytes);
  if (lead) channel.write(lead);
  if (input instanceof Readable) feed(process, input);
  else channel.end(input);
  try {
    const exit = await limit.race(process.ended);
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
  const said = `${printed.toString('utf8').trimEnd()}\n${complained.toString('utf8').trimEnd()}`;
  return new Fault('remote_failed', `«${argv[0]}» ${how} on the server.`, {
    evidence: said.trim().split('\n').slice(-12).join('\n').slice(-4_000),
  });
}
