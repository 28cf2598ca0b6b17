/** How long an answer may take, in two parts: until its headers are there, and until its body is at its end. */
import { Fault } from '../../fault.ts';

export interface TimeLimits {
  readonly signal: AbortSignal;
  /** The headers are there; from now on the time of the body runs. */
  headersCame(): void;
  /** Breaks the exchange off. */
  stop(why: unknown): void;
  done(): void;
}

export function startTimeLimits(
  host: string,
  { headersMs, bodyMs }: { readonly headersMs: number; readonly bodyMs: number },
  outer: AbortSignal | undefined,
): TimeLimits {
  const own = new AbortController();
  // While there is something to break off, its socket keeps the process alive; the clock alone must not.
  const after = (ms: number, what: string) =>
    setTimeout(() => own.abort(tookTooLong(host, what, ms)), ms).unref();
  let timer = after(headersMs, 'begin its answer');
  const pass = () => own.abort(outer?.reason);
  outer?.addEventListener('abort', pass, { once: true });
  if (outer?.aborted) pass();
  return {
    signal: own.signal,
    headersCame() {
      clearTimeout(timer);
      timer = after(bodyMs, 'send its whole answer');
    },
    stop: (why) => own.abort(why),
    done() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', pass);
    },
  };
}

function tookTooLong(host: string, what: string, ms: number): Fault {
  return new Fault('egress_failed', `${host} took longer than ${ms / 1000} s to ${what}.`, {
    hint: 'Try again later, or check that it is not overloaded.',
  });
}
