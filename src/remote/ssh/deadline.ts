/** How long a call may take, and who may end it early: one signal for both, whose reason is what the caller gets. */
import { Fault } from '../../fault.ts';

export interface Limit {
  readonly signal: AbortSignal;
  readonly endsAt: number;
  /** Rejects as soon as the limit is reached; the work itself goes on. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Lets go of the timer and of the caller's signal. */
  done(): void;
}

const longestTimer = 2 ** 31 - 1;

export function startLimit(what: string, timeoutMs: number, outer?: AbortSignal): Limit {
  const own = new AbortController();
  const ms = Math.min(timeoutMs, longestTimer);
  const timer = setTimeout(() => own.abort(tookTooLong(what, ms)), ms);
  const pass = () => own.abort(outer?.reason);
  outer?.addEventListener('abort', pass, { once: true });
  if (outer?.aborted) pass();
  return {
    signal: own.signal,
    endsAt: Date.now() + ms,
    race: (work) => raceAbort(work, own.signal),
    done: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', pass);
    },
  };
}

/** Rejects with the signal's reason as soon as it is aborted; the work itself goes on. */
export async function raceAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function tookTooLong(what: string, ms: number): Fault {
  return new Fault('remote_timeout', `«${what}» took longer than ${ms / 1000} s on the server.`, {
    hint: 'The server may be overloaded, or the command may wait for something that does not come.',
  });
}
