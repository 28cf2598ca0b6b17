/**
 * The output of containers as it comes. A connection to a server has few channels, and a deployment needs them too:
 * however many containers of it are watched, and by however many, this takes one. Owns that channel; keeps nothing.
 */
import { Fault } from '../../fault.ts';
import { sendScript } from '../../remote/exec/script.ts';
import type { Remote, RemoteStream } from '../../remote/remote.ts';
import { LogFrames, type LogPiece } from './log-frames.ts';
import { tapScript } from './tap-script.ts';

export interface LogFollower {
  /** By name or id. */
  readonly container: string;
  /** From there on, as `justAfter` gives it; from its first line on, if undefined. */
  readonly since: string | undefined;
  take(piece: LogPiece): void;
  /** The container has stopped, or the way to it is gone. Told once, unless it was left before. */
  ended(fault: Fault | undefined): void;
}

interface Followed {
  readonly follower: LogFollower;
  readonly frames: LogFrames;
}

/** Longer than anybody watches. */
const foreverMs = 2 ** 31 - 1;
const mostComplaint = 2_000;

export class LogTap {
  readonly #stream: RemoteStream;
  readonly #followed = new Map<string, Followed>();
  readonly #over: () => void;
  #rest: Buffer = Buffer.alloc(0);
  #lastKey = 0;
  #isOver = false;
  #complaint = '';

  private constructor(stream: RemoteStream, over: () => void) {
    this.#stream = stream;
    this.#over = over;
  }

  /** `over` is told when it is of no use any more: nobody follows, or the connection broke. */
  static async open(remote: Pick<Remote, 'stream'>, over: () => void): Promise<LogTap> {
    const { argv, preamble } = sendScript(tapScript, []);
    const stream = await remote.stream(argv, { timeoutMs: foreverMs });
    const tap = new LogTap(stream, over);
    stream.stdin.write(preamble);
    stream.stderr.on('data', (bytes: Buffer) => {
      tap.#complaint = `${tap.#complaint}${bytes}`.slice(-mostComplaint);
    });
    tap.#read().catch((error: unknown) => tap.#break(error));
    return tap;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns what ends it. Who leaves last closes the channel. */
  follow(follower: LogFollower): () => void {
    this.#lastKey += 1;
    const key = String(this.#lastKey);
    const since = follower.since === undefined ? '' : `&since=${follower.since}`;
    const query = `follow=1&stdout=1&stderr=1&timestamps=1${since}`;
    this.#followed.set(key, { follower, frames: new LogFrames() });
    this.#say(`+ ${key} /containers/${encodeURIComponent(follower.container)}/logs?${query}\n`);
    return () => {
      if (!this.#followed.delete(key)) return;
      this.#say(`- ${key}\n`);
      this.#closeIfUnused();
    };
  }

  #say(line: string): void {
    if (!this.#isOver) this.#stream.stdin.write(line);
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#stream.stdout) this.#take(chunk);
    const { code } = await this.#stream.ended;
    if (this.#isOver) return;
    const evidence = this.#complaint;
    throw new Fault('remote_failed', `Following the output ended with ${code} on the server.`, { evidence });
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const line = this.#rest.indexOf('\n');
      if (line === -1) return;
      const [key = '', size] = this.#rest.subarray(0, line).toString('latin1').split(' ');
      const end = line + 1 + Math.max(0, Number(size));
      if (!(end <= this.#rest.length)) return;
      const bytes = this.#rest.subarray(line + 1, end);
      this.#rest = this.#rest.subarray(end);
      this.#pass(key, Number(size) < 0 ? undefined : bytes);
    }
  }

  #pass(key: string, bytes: Buffer | undefined): void {
    const followed = this.#followed.get(key);
    // Was left; what was under way then still comes.
    if (!followed) return;
    const { follower, frames } = followed;
    if (bytes) {
      for (const piece of frames.push(bytes)) follower.take(piece);
      return;
    }
    this.#followed.delete(key);
    follower.ended(frames.isGone ? undefined : refusal(frames.complaint));
    this.#closeIfUnused();
  }

  /** After a moment: who follows one container after another would open a channel each time. */
  #closeIfUnused(): void {
    if (this.#followed.size > 0) return;
    setTimeout(() => {
      if (this.#followed.size > 0 || this.#isOver) return;
      this.#isOver = true;
      this.#stream.stdin.end();
      this.#over();
    }, 1_000).unref();
  }

  #break(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#over();
    const fault =
      error instanceof Fault
        ? error
        : new Fault('remote_failed', 'The output of containers broke off.', { cause: error });
    const all = [...this.#followed.values()];
    this.#followed.clear();
    for (const { follower } of all) follower.ended(fault);
  }
}

function refusal(complaint: string | undefined): Fault | undefined {
  if (complaint === undefined) return undefined;
  return new Fault('docker_failed', 'Docker does not give the output of a container.', {
    evidence: complaint,
  });
}
