/** A command over a connection of one's own, for the few moments before a server has its place in the pool. */
import { Fault } from '../fault.ts';
import type { Connection } from './connection.ts';
import { startLimit } from './limit.ts';
import type { RemoteOutcome } from './remote.ts';
import { RemoteProcess } from './remote-process.ts';

const mostBytes = 1024 * 1024;

export interface OverOptions {
  readonly input?: string | Buffer;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export async function runOver(
  connection: Connection,
  argv: readonly string[],
  { input = '', timeoutMs = 30_000, signal }: OverOptions = {},
): Promise<RemoteOutcome> {
  const limit = startLimit(argv[0] ?? '', timeoutMs, signal);
  try {
    const process = await limit.race(RemoteProcess.start(connection, argv, false));
    const stop = () => void process.kill(limit.signal.reason);
    limit.signal.addEventListener('abort', stop, { once: true });
    const [stdout, stderr] = [collect(process.channel), collect(process.channel.stderr)];
    process.channel.end(input);
    const exit = await process.ended;
    return { ...exit, stdout: stdout(), stderr: stderr() };
  } finally {
    limit.done();
  }
}

function collect(stream: NodeJS.ReadableStream): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= mostBytes) chunks.push(chunk);
  });
  return () => {
    if (size <= mostBytes) return Buffer.concat(chunks);
    throw new Fault('remote_failed', 'The server said more than it may in answer to a small question.');
  };
}
