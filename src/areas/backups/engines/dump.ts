/**
 * A dump as a stream out of a tool that runs on the server, in a container or outside. Its standard output is the dump; on
 * standard error it prints the content stats by lines of ours, and what else it prints there is the evidence when it fails.
 *
 *   @stat ["rows of public.users",3]     @warning files changed while they were read     @code pg_dump 1
 */
import { PassThrough, pipeline, type Readable, Transform } from 'node:stream';
import { createZstdCompress } from 'node:zlib';
import { hour } from '../../../clock.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { Dump } from './engine.ts';
import { serverTools } from './server-tools.ts';
import { ToolOutput } from './tool-output.ts';

const timeoutMs = 24 * hour;

/**
 * Docker lets a program in a container run on when the one who started it is gone; it only closes its input. So a dump
 * tool watches its input and ends its whole process group with it. Constant text, ahead of the tool's own.
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
 * compressed. `nice`: the database goes first, by a little; with less of a share, the pipe stood still on both sides in turn.
 */
const pipeScript = `
has_zstd=$1
shift
if [ "$has_zstd" = yes ]; then
  "$@" | LC_ALL=C dd bs=256k | nice -n 5 zstd -3 -q -c
  codes=("\${PIPESTATUS[@]}")
else
  "$@"
  codes=("$?")
fi
for each in "\${codes[@]}"; do
  if [ "$each" != 0 ]; then echo "@code pipe \${codes[*]}" >&2; exit 1; fi
done
`;

/** `argv` runs on the server; a tool that watches its input, as in `inContainer`, ends with the stream. */
export async function dumpOf(host: DockerHost, tool: string, argv: readonly string[]): Promise<Dump> {
  const { remote, signal } = host;
  const { hasZstd } = await serverTools(host);
  const started = ['bash', '-c', pipeScript, 'slipway-dump', hasZstd ? 'yes' : 'no', ...argv];
  const stream = await remote.stream(started, { timeoutMs, signal });
  const output = new ToolOutput(remote.secrets);
  const stderrClosed = new Promise<void>((resolve) => {
    stream.stderr.on('data', (bytes: Buffer) => output.push(bytes));
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
  const parts = hasZstd ? [] : [counter, createZstdCompress()];
  const ended = Promise.withResolvers<Awaited<Dump['ended']>>();
  // Whoever awaits it gets the error; whoever only reads gets it from the content.
  ended.promise.catch(() => undefined);

  const settle = async () => {
    const { code } = await stream.ended;
    await stderrClosed;
    output.end();
    const rawBytes = hasZstd ? output.rawBytes : counted;
    if (code !== 0 || rawBytes === undefined) throw dumpFailed(tool, output.evidence);
    return { contentStats: output.contentStats, rawBytes, warning: output.warning };
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

function dumpFailed(tool: string, evidence: string): Fault {
  return (
    databaseDown(evidence) ??
    new Fault('dump_failed', `${tool} failed; the evidence has its output.`, { evidence })
  );
}

/** Where a client could not reach the database: nobody listens, it is still starting, or its container does not run. */
export function databaseDown(evidence: string): Fault | undefined {
  // A Docker that was started again knows nothing of what it ran, while the container runs on: that is tried again.
  if (/is not running|No such container/i.test(evidence))
    return new Fault('database_down', 'The container of the database is not running.', {
      hint: 'Start the service, then try again.',
      evidence,
    });
  const noAnswer =
    /connection to server .* failed|Can't connect to|the database system is (starting|shutting)|Connection refused/i;
  if (!noAnswer.test(evidence)) return undefined;
  return new Fault('database_down', 'The database does not answer.', {
    hint: 'See its log; when it runs again, try again.',
    evidence,
  });
}
