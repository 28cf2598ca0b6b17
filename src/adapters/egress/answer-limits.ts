/** How long an answer may take, until its headers are there and until its body is at its end, and how large it may be. */
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

export interface BodyLimit {
  readonly host: string;
  readonly maxBytes: number;
  readonly limits: TimeLimits;
  /** Turns what breaks off in the middle into a fault. */
  readonly explain: (error: unknown) => unknown;
}

/** The body, handed on as it comes, and broken off at the byte that is one too many. */
export function limitBody(
  body: ReadableStream<Uint8Array>,
  { host, maxBytes, limits, explain }: BodyLimit,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let seen = 0;
  const fail = (controller: ReadableStreamDefaultController<Uint8Array>, why: unknown) => {
    limits.done();
    limits.stop(why);
    controller.error(why);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            limits.done();
            controller.close();
            return;
          }
          seen += value.byteLength;
          if (seen > maxBytes) fail(controller, tooLarge(host, maxBytes));
          else controller.enqueue(value);
        } catch (error) {
          fail(controller, explain(error));
        }
      },
      async cancel(reason) {
        limits.done();
        await reader.cancel(reason);
      },
    },
    // Nothing is read ahead of who asks: a stream that nobody reads holds no more than the connection does.
    { highWaterMark: 0 },
  );
}

export function tooLarge(host: string, maxBytes: number): Fault {
  return new Fault('egress_failed', `${host} answers with more than ${maxBytes} bytes.`, {
    hint: 'Check that the address is the right one.',
  });
}
