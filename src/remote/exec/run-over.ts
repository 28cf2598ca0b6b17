/** A command over a connection of one's own, for the few moments before a server has its place in the pool. */

import type { RemoteOutcome } from '../remote.ts';
import type { Connection } from '../ssh/connection.ts';
import { startDeadline } from '../ssh/deadline.ts';
import { RemoteProcess } from './remote-process.ts';

/** These are small questions; who answers with more is ended. */
const maxBytes = 1024 * 1024;

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
  const deadline = startDeadline(argv[0] ?? '', timeoutMs, signal);
  const starting = RemoteProcess.start(connection, argv, false);
  const stop = () =>
    // The channel may still open after nobody waits for it any more; where it never does, there is nothing to end.
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
