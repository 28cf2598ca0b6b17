/** What a command prints, kept up to a limit. */
import { Fault } from '../../fault.ts';
import type { RemoteOutcome } from '../remote.ts';
import type { RemoteProcess } from './remote-process.ts';

/** Over the limit, in either stream, the command is ended. Returns what has come so far of both. */
export function collect(
  process: RemoteProcess,
  maxBytes: number,
): () => Pick<RemoteOutcome, 'stdout' | 'stderr'> {
  const tooMuch = () =>
    void process.kill(new Fault('remote_failed', `The command printed more than ${maxBytes} bytes.`));
  const stdout = collectOne(process.channel, maxBytes, tooMuch);
  const stderr = collectOne(process.channel.stderr, maxBytes, tooMuch);
  return () => ({ stdout: stdout(), stderr: stderr() });
}

function collectOne(stream: NodeJS.ReadableStream, maxBytes: number, tooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) tooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}
