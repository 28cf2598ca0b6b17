/** Server-Sent Events over `fetch`, so that the token goes into a header: read, and resumed where they broke off. */
import type { CallOptions, EventStream, Input, Operation } from './call.ts';
import { ConnectionError, foreign, isOfType } from './problem.ts';
import { type Transport, waitBeforeRetryMs } from './transport.ts';

/** A comment comes every 15 seconds: where none does, the connection is dead and nobody has said so. */
const silenceMs = 45_000;

export class Follower<Event> implements EventStream<Event> {
  lastEventId: string | undefined;
  readonly #transport: Transport;
  readonly #operation: Operation;
  readonly #input: Input;
  readonly #options: CallOptions;

  constructor(transport: Transport, operation: Operation, input: Input, options: CallOptions) {
    this.#transport = transport;
    this.#operation = operation;
    this.#input = input;
    this.#options = options;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    const { signal, onConnection } = this.#options;
    const isResumed = this.#operation.marks.includes('e');
    let hasConnected = false;
    for (let tried = 0; ; tried += 1) {
      const ending = new AbortController();
      const signals = signal ? [signal, ending.signal] : [ending.signal];
      let failure: unknown;
      try {
        const answer = await this.#connect(AbortSignal.any(signals), isResumed);
        if (answer.body === null || answer.status === 204) return;
        if (!isOfType(answer, 'text/event-stream')) throw foreign(answer, '');
        hasConnected = true;
        onConnection?.(true);
        for await (const { id, data } of readEvents(answer.body, ending)) {
          if (id !== undefined) this.lastEventId = id;
          if (data === undefined) continue;
          tried = 0;
          const event = JSON.parse(data);
          yield event;
          if (event.kind === 'end') return;
        }
        failure = new ConnectionError('The stream broke off.');
      } catch (error) {
        failure = error;
      } finally {
        // Also where the reader has left the loop: the connection is of no more use.
        ending.abort();
        onConnection?.(false);
      }
      signal?.throwIfAborted();
      const waitMs = isResumed && hasConnected ? waitBeforeRetryMs(failure, tried) : undefined;
      if (waitMs === undefined) throw failure;
      await this.#transport.wait(waitMs, signal);
    }
  }

  #connect(signal: AbortSignal, isResumed: boolean): Promise<Response> {
    const options = { ...this.#options, signal };
    return this.#transport.send(
      this.#operation,
      this.#input,
      options,
      isResumed ? this.lastEventId : undefined,
    );
  }
}

interface Message {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** By the standard: lines end with any of three, a message with an empty line, and what is cut off is none. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  ending: AbortController,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let id: string | undefined;
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await readBeforeSilence(reader, ending);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line's end.
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? '';
      for (const line of lines) {
        const [, name, content = ''] = /^(\w*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (name === 'id') id = content;
        if (name === 'data') data.push(content);
        if (line !== '') continue;
        if (id !== undefined || data.length > 0)
          yield { id, data: data.length > 0 ? data.join('\n') : undefined };
        id = undefined;
        data = [];
      }
    }
  } catch (cause) {
    throw cause instanceof ConnectionError ? cause : new ConnectionError('The stream broke off.', { cause });
  }
}

async function readBeforeSilence(reader: ReadableStreamDefaultReader<Uint8Array>, ending: AbortController) {
  const timer = setTimeout(() => ending.abort(new ConnectionError('The stream fell silent.')), silenceMs);
  try {
    return await reader.read();
  } finally {
    clearTimeout(timer);
  }
}
