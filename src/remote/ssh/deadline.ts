/** How long a call may take, and who may end it early: one signal for both, whose reason is what the caller gets. */
import { Fault } from '../../fault.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  readonly endsAt: number;
  /** Rejects as soon as the deadline has passed; the work itself goes on. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Clears the timer, and detaches from the caller's signal. */
  clear(): void;
}

const maxTimerMs = 2 ** 31 - 1;

export function startDeadline(what: string, timeoutMs: number, outer?: AbortSignal): Deadline {
  const own = new AbortController();
  const ms = Math.min(timeoutMs, maxTimerMs);
  const timer = setTimeout(() => own.abort(timedOut(what, ms)), ms);
  const pass = () => own.abort(outer?.reason);
  outer?.addEventListener('abort', pass, { once: true });
  if (outer?.aborted) pass();
  return {
    signal: own.signal,
    endsAt: Date.now() + ms,
    race: (work) => raceAbort(work, own.signal),
    clear: () => {
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

function timedOut(what: string, ms: number): Fault {
  return new Fault('remote_timeout', `«${what}» took longer than ${ms / 1000} s on the server.`, {
    hint: 'The server may be overloaded, or the command may wait for something that does not come.',
  });
}
