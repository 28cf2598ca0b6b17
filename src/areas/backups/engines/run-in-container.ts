/**
 * A dump as a stream out of a tool that runs on the server, in a container or beside it. What the tool prints is the dump;
 * on the other stream it tells its figures by lines of ours, and what else it says there is the evidence when it fails.
 *
 *   @figure ["rows of public.users",3]     @warning files changed while they were read     @code pg_dump 1
 */
import { PassThrough, pipeline, type Readable, Transform } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { Dump } from './engine.ts';
import { ToolWords } from './run-in-container-words.ts';
import type { ServerTools } from './server-tools.ts';

/** For as long as anything of ours may take. */
export const longestMs = 24 * 3600_000;

/**
 * Docker lets a program in a container run on when the one who asked for it is gone; it only closes its input. So a tool
 * that is asked for a dump watches its input and ends its whole group with it. Constant text, ahead of the tool's own.
 */
const lifeline = `
exec 3<&0 </dev/null
( while read -r _; do :; done; kill -KILL -- "-$$" ) <&3 >/dev/null 2>&1 &
lifeline=$!
exec 3<&-
trap 'kill -KILL "$lifeline" 2>/dev/null || :' EXIT
`;

/** A constant script for `sh -eu` in a running container, with its data as arguments; it ends when its input does. */
export function inContainer(container: string, script: string, args: readonly string[] = []): string[] {
  return ['docker', 'exec', '-i', container, 'sh', '-euc', `${lifeline}${script}`, 'sh', ...args];
}

/**
 * Bash, for how each part of a pipe has ended; every Debian and Ubuntu has it. `dd` counts the bytes before they are
 * compressed. `nice`: the database goes first.
 */
const pipeScript = `
has_zstd=$1
shift
if [ "$has_zstd" = yes ]; then
  "$@" | LC_ALL=C dd bs=256k | nice zstd -3 -q -c
  codes=("\${PIPESTATUS[@]}")
else
  "$@"
  codes=("$?")
fi
for each in "\${codes[@]}"; do
  if [ "$each" != 0 ]; then echo "@code pipe \${codes[*]}" >&2; exit 1; fi
done
`;

export interface DumpWish {
  /** Runs on the server; a tool that minds its input, as `inContainer` makes it, ends with the stream. */
  readonly argv: readonly string[];
  /** For the sentence: `pg_dump`. */
  readonly tool: string;
  readonly tools: ServerTools;
}

export async function dumpOf({ remote, signal }: DockerHost, wish: DumpWish): Promise<Dump> {
  const { argv, tool, tools } = wish;
  const started = ['bash', '-c', pipeScript, 'slipway-dump', tools.hasZstd ? 'yes' : 'no', ...argv];
  const stream = await remote.stream(started, { timeoutMs: longestMs, signal });
  const words = new ToolWords();
  const heard = new Promise<void>((resolve) => {
    stream.stderr.on('data', (bytes: Buffer) => words.push(bytes));
    stream.stderr.once('close', resolve);
  });
  let counted = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      counted += chunk.length;
      done(null, chunk);
    },
  });
  const out = new PassThrough({ highWaterMark: 256 * 1024 });
  const parts = tools.hasZstd ? [] : [counter, createZstdCompress()];
  const ended = Promise.withResolvers<Awaited<Dump['ended']>>();
  // Who waits hears of it; who only reads hears of it from the content.
  ended.promise.catch(() => undefined);

  const settle = async () => {
    const { code } = await stream.ended;
    await heard;
    words.end();
    if (code !== 0) throw dumpFailed(tool, words);
    const rawBytes = tools.hasZstd ? words.rawBytes : counted;
    if (rawBytes === undefined) throw dumpFailed(tool, words);
    return { figures: words.figures, rawBytes, warning: words.warning };
  };
  const settled = settle();
  settled.catch(() => undefined);
  // The last piece of content waits for how the tool has ended: half a dump must not look like a whole one.
  const gate = new Transform({
    transform: (chunk, _encoding, done) => done(null, chunk),
    flush: (done) => void settled.then(() => done(), done),
  });
  const chain: [Readable, ...Transform[]] = [stream.stdout, ...parts, gate, out];
  pipeline(chain, (error) => {
    if (error) ended.reject(error);
    else settled.then(ended.resolve, ended.reject);
  });
  return { content: out, ended: ended.promise };
}

function dumpFailed(tool: string, words: ToolWords): Fault {
  const evidence = words.evidence;
  // A Docker that was started again knows nothing of what it ran, while the container runs on: that is tried again.
  if (/is not running|No such container/i.test(evidence))
    return new Fault('database_down', 'The container of the database does not run.', {
      hint: 'Start the service, then try again.',
      evidence,
    });
  if (isNoAnswer(evidence))
    return new Fault('database_down', 'The database does not answer.', {
      hint: 'See its log; when it runs again, try again.',
      evidence,
    });
  return new Fault('dump_failed', `${tool} failed; what it said is in the evidence.`, { evidence });
}

/** As the clients say it when nobody listens, or someone who is still starting. */
export function isNoAnswer(said: string): boolean {
  return /connection to server .* failed|Can't connect to|the database system is (starting|shutting)|Connection refused/i.test(
    said,
  );
}
