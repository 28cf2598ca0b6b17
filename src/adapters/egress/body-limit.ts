/** The body of an answer, handed on as it comes, and broken off at the byte that is one too many. */
import { Fault } from '../../fault.ts';
import type { TimeLimits } from './time-limits.ts';

export interface BodyLimit {
  readonly host: string;
  readonly maxBytes: number;
  readonly limits: TimeLimits;
  /** Turns what breaks off in the middle into a fault. */
  readonly explain: (error: unknown) => unknown;
}

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
