/** A command over a dedicated connection, for a server that is not in the pool yet. */

import type { RemoteOutcome } from '../remote.ts';
import type { Connection } from '../ssh/connection.ts';
import { startDeadline } from '../ssh/deadline.ts';
import { RemoteProcess } from './remote-process.ts';

/** These are small queries; a command that prints more is killed. */
const maxBytes = 1024 * 1024;

export interface RunOverOptions {
  readonly input?: string | Buffer;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export async function runOver(
  connection: Connection,
  argv: readonly string[],
  { input = '', timeoutMs = 30_000, signal }: RunOverOptions = {},
): Promise<RemoteOutcome> {
  const deadline = startDeadline(argv[0] ?? '', timeoutMs, signal);
  const starting = RemoteProcess.start(connection, argv, false);
  const stop = () =>
    // The channel may still open after the deadline; where it never does, there is nothing to kill.
    void starting.then(
      (process) => process.kill(deadline.signal.reason),
      () => undefined,
    );
  deadline.signal.addEventListener('abort', stop, { once: true });
  if (deadline.signal.aborted) stop();
  try {
    const process = await deadline.race(starting);
    const collected = process.collect(maxBytes);
    process.channel.end(input);
    const exit = await process.ended;
    return { ...exit, ...collected() };
  } finally {
    deadline.signal.removeEventListener('abort', stop);
    deadline.clear();
  }
}
