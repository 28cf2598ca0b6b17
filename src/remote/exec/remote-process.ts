/**
 * One command on the server, in one channel. Ends when the server reports its exit status; without that it has failed,
 * however clean the end of its output looks. Killing it kills its children too, and is confirmed.
 */
import { randomBytes } from 'node:crypto';
import type { ClientChannel } from 'ssh2';
import { Fault } from '../../fault.ts';
import { type Connection, connectionLost } from '../ssh/connection.ts';
import { quoteArgv } from './quote.ts';
import { sendScript } from './script.ts';

export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** How long a kill may take before the connection is closed for it. */
const killTimeoutMs = 5_000;

/**
 * Closing a channel ends no process that does not use it, and signals sent through it reach nothing behind sudo. So
 * every command carries a mark of its own in its environment, which its children inherit: it finds all of them.
 */
export const killMarked = `
marked() {
  # Its exit code says nothing: processes that end while it looks count as errors.
  grep -lsazxF -e "SLIPWAY_RUN=$1" /proc/[0-9]*/environ || :
}
for round in 1 2 3 4 5; do
  found=$(marked "$1")
  if [ -z "$found" ]; then exit 0; fi
  for each in $found; do
    each=\${each#/proc/}
    kill -KILL "\${each%/environ}" 2>/dev/null || :
  done
done
sleep 0.2
[ -z "$(marked "$1")" ]
`;

export class RemoteProcess {
  readonly channel: ClientChannel;
  /** Rejects where it was killed (with the reason), or the connection broke. */
  readonly ended: Promise<Exit>;
  /** What `killMarked` finds it by, from wherever that is run. */
  readonly mark: string;
  readonly #connection: Connection;
  readonly #viaSudo: boolean;
  readonly #end = Promise.withResolvers<Exit>();
  #isOver = false;
  #killed: Promise<boolean> | undefined;

  static start(connection: Connection, argv: readonly string[], viaSudo: boolean): Promise<RemoteProcess> {
    const mark = randomBytes(12).toString('hex');
    const line = commandLine(argv, mark, viaSudo);
    return connection.exec(line, (channel) => new RemoteProcess(connection, channel, mark, viaSudo));
  }

  private constructor(connection: Connection, channel: ClientChannel, mark: string, viaSudo: boolean) {
    this.#connection = connection;
    this.channel = channel;
    this.mark = mark;
    this.#viaSudo = viaSudo;
    this.ended = this.#end.promise;
    // Without anyone waiting, a rejection must not end the whole service.
    this.ended.catch(() => undefined);
    let exit: Exit | undefined;
    channel.once('exit', (code: number | null, signal?: string) => {
      exit = { code: code ?? null, signal: signal ?? null };
    });
    const forget = connection.onLost((why) => this.#end.reject(connectionLost(why)));
    channel.once('close', () => {
      this.#isOver = true;
      // Where the connection goes with it, that is the reason to tell.
      if (!exit && !connection.isOpen) return;
      forget();
      if (exit) this.#end.resolve(exit);
      else this.#end.reject(endedWithoutStatus());
    });
  }

  /** What it prints. Over the limit, in either stream, it is killed. Returns what has come so far of both. */
  collect(maxBytes: number): () => { readonly stdout: Buffer; readonly stderr: Buffer } {
    const gather = (stream: NodeJS.ReadableStream) => {
      const chunks: Buffer[] = [];
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBytes) chunks.push(chunk);
        else void this.kill(new Fault('remote_failed', `The command printed more than ${maxBytes} bytes.`));
      });
      return chunks;
    };
    const [stdout, stderr] = [gather(this.channel), gather(this.channel.stderr)];
    return () => ({ stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) });
  }

  /** The result of `kill`, where it was called. */
  get killed(): Promise<boolean> | undefined {
    return this.#killed;
  }

  /** True once nothing of it runs any more; false where that could not be confirmed. */
  kill(reason: unknown): Promise<boolean> {
    this.#end.reject(reason);
    this.#killed ??= this.#isOver ? Promise.resolve(true) : this.#kill();
    return this.#killed;
  }

  async #kill(): Promise<boolean> {
    this.channel.resume();
    this.channel.stderr.resume();
    this.channel.close();
    const earlier = this.#connection.kills;
    const own = earlier.then(() => this.#killMarked());
    this.#connection.kills = own;
    return own;
  }

  async #killMarked(): Promise<boolean> {
    if (!this.#connection.isOpen) return false;
    const late = Promise.withResolvers<false>();
    const timer = setTimeout(late.resolve, killTimeoutMs, false);
    try {
      return await Promise.race([this.#killAndConfirm(), late.promise]);
    } catch {
      // The channel was refused, or the connection has gone: nothing is confirmed then.
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #killAndConfirm(): Promise<boolean> {
    const { argv, preamble } = sendScript(killMarked, [this.mark]);
    const killer = await RemoteProcess.start(this.#connection, argv, this.#viaSudo);
    killer.channel.resume().end(preamble);
    killer.channel.stderr.resume();
    return (await killer.ended).code === 0;
  }
}

/** The assignment costs nothing; behind sudo, which drops the environment, `env` has to set it. */
function commandLine(argv: readonly string[], mark: string, viaSudo: boolean): string {
  if (!viaSudo) return `SLIPWAY_RUN=${mark} ${quoteArgv(argv)}`;
  return quoteArgv(['sudo', '-n', '--', 'env', `SLIPWAY_RUN=${mark}`, ...argv]);
}

function endedWithoutStatus(): Fault {
  return new Fault('remote_failed', 'The command ended on the server without an exit status.', {
    hint: 'It was probably killed together with its SSH session.',
  });
}
