/** A command over a connection of one's own, for the few moments before a server has its place in the pool. */

import type { RemoteOutcome } from '../remote.ts';
import type { Connection } from '../ssh/connection.ts';
import { startLimit } from '../ssh/deadline.ts';
import { collect } from './collect.ts';
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
  const limit = startLimit(argv[0] ?? '', timeoutMs, signal);
  const starting = RemoteProcess.start(connection, argv, false);
  const stop = () =>
    // The channel may still open after nobody waits for it any more; where it never does, there is nothing to end.
    void starting.then(
      (process) => process.kill(limit.signal.reason),
      () => undefined,
    );
  limit.signal.addEventListener('abort', stop, { once: true });
  if (limit.signal.aborted) stop();
  try {
    const process = await limit.race(starting);
    const collected = collect(process, maxBytes);
    process.channel.end(input);
    const exit = await process.ended;
    return { ...exit, ...collected() };
  } finally {
    limit.signal.removeEventListener('abort', stop);
    limit.done();
  }
}
