/** A reader of Server-Sent Events, over real HTTP: reads, is cut off, comes back. */
export interface ReadEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export interface Reader {
  readonly status: number;
  readonly body: string;
  /** Events as they come; ends when the service ends the stream. */
  events(): AsyncGenerator<ReadEvent>;
  /** How many comments (heartbeats) came so far. */
  comments(): number;
  close(): void;
}

export interface ReaderOptions {
  readonly token?: string;
  readonly lastEventId?: number;
  readonly headers?: Record<string, string>;
  /** Where the stream is the answer to a question with a body. */
  readonly post?: string;
}

export async function openStream(url: string, options: ReaderOptions = {}): Promise<Reader> {
  const { token, lastEventId, headers, post } = options;
  const controller = new AbortController();
  const answer = await fetch(url, {
    signal: controller.signal,
    ...(post !== undefined && { method: 'POST', body: post }),
    headers: {
      ...(post !== undefined && { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
      ...headers,
    },
  });
  let comments = 0;
  async function* events(): AsyncGenerator<ReadEvent> {
    if (!answer.body) return;
    let text = '';
    try {
      for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          if (block.startsWith(':')) comments += 1;
          const event = parse(block);
          if (event) yield event;
        }
      }
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    }
  }
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const body = isStream ? '' : await answer.text();
  return { status: answer.status, body, events, comments: () => comments, close: () => controller.abort() };
}

function parse(block: string): ReadEvent | undefined {
  const field = (name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const id = field('id');
  const data = field('data');
  if (data === undefined) return undefined;
  return { id: Number(id ?? 0), event: field('event') ?? '', data: JSON.parse(data) };
}
