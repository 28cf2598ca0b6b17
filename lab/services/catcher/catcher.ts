/**
 * The lab's catcher: an HTTP server that writes down every request and answers as it was told, `200 ok` otherwise.
 * It understands nothing of what it gets. It refuses bodies over 10 MiB with 413, and writes down their beginning.
 * A request that breaks off before its end is not one, and is not written down.
 */
import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { Inbox } from '../control/inbox.ts';
import { InputError } from '../control/input.ts';
import { type Answer, Answers, checkPath, type PathAnswer } from './answers.ts';

export interface CaughtRequest {
  readonly id: string;
  readonly time: string;
  readonly remoteAddress: string;
  readonly method: string;
  /** As it was sent, not decoded and without the query. */
  readonly path: string;
  /** As it was sent, without the question mark. */
  readonly query: string;
  /** In order, with the names as they were written. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bodyBase64: string;
  /** Null where the body is not UTF-8. */
  readonly bodyText: string | null;
  /** Whether the body went over the limit, and only its beginning is here. */
  readonly cut: boolean;
}

export interface LabCatcher {
  readonly address: string;
  readonly port: number;
  readonly url: string;
  requests(path?: string): CaughtRequest[];
  /** The oldest unread request, or the next to come; undefined when none came in time. */
  next(path: string | undefined, timeoutMs: number, stop?: AbortSignal): Promise<CaughtRequest | undefined>;
  clear(): void;
  /** Replaces what the path was to be answered; undefined takes it back. */
  answer(path: string, answer: Answer | undefined): void;
  answers(): PathAnswer[];
  close(): Promise<void>;
}

const largestBody = 10 * 1024 * 1024;

export async function startCatcher(options: { address: string; port: number }): Promise<LabCatcher> {
  const { address } = options;
  if (isIP(address) === 0)
    throw new InputError(`"${address}" is no address to listen on: 127.0.0.1 would be one.`);
  const inbox = new Inbox<CaughtRequest>(({ path }) => [path]);
  const answers = new Answers();
  let count = 0;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    if (!body) return;
    const caught = caughtFrom(request, body, String(++count));
    // Taken before anyone can read the request: whoever has read it may change the answer for the next.
    const answer = body.cut
      ? { status: 413, body: `Larger than ${largestBody} bytes` }
      : answers.take(caught.path);
    inbox.put(caught);
    await reply(response, answer);
  });
  server.listen(options.port, address);
  await once(server, 'listening');
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null)
    throw new Error('The catcher has no port, though it listens.');

  let closing: Promise<void> | undefined;
  const close = async () => {
    inbox.close();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    address,
    port: bound.port,
    url: `http://${bound.family === 'IPv6' ? `[${address}]` : address}:${bound.port}`,
    requests: (path) => inbox.list(keyOf(path)),
    next: async (path, timeoutMs, signal) => inbox.next(keyOf(path), timeoutMs, signal),
    clear: () => inbox.clear(),
    answer: (path, answer) => answers.set(path, answer),
    answers: () => answers.list(),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function keyOf(path: string | undefined): string | undefined {
  if (path !== undefined) checkPath(path);
  return path;
}

interface Body {
  readonly bytes: Buffer;
  readonly cut: boolean;
}

/** Read to its end even when it is too large: a client that is cut off while it sends never sees the 413. */
async function bodyOf(request: IncomingMessage): Promise<Body | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    if (size < largestBody) chunks.push(chunk);
    size += chunk.length;
  });
  // An error is always followed by close, and only close tells whether the request is whole.
  request.on('error', () => undefined);
  const whole = await new Promise<boolean>((resolve) => {
    request.once('end', () => resolve(true));
    request.once('close', () => resolve(false));
  });
  if (!whole) return undefined;
  return { bytes: Buffer.concat(chunks).subarray(0, largestBody), cut: size > largestBody };
}

function caughtFrom(request: IncomingMessage, { bytes, cut }: Body, id: string): CaughtRequest {
  const { url = '', method = '', rawHeaders, socket } = request;
  const mark = url.indexOf('?');
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  return {
    id,
    time: new Date().toISOString(),
    remoteAddress: socket.remoteAddress ?? 'unknown',
    method,
    path: mark === -1 ? url : url.slice(0, mark),
    query: mark === -1 ? '' : url.slice(mark + 1),
    headers: names.map((name, index) => ({ name, value: rawHeaders[index * 2 + 1] ?? '' })),
    bodyBase64: bytes.toString('base64'),
    bodyText: isUtf8(bytes) ? bytes.toString('utf8') : null,
    cut,
  };
}

async function reply(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.delayMs && !(await stillThereAfter(answer.delayMs, response))) return;
  if (answer.hangUp) {
    response.destroy();
    return;
  }
  response.statusCode = answer.status ?? 200;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  response.end(answer.body ?? '');
}

/** Closing the catcher closes its connections, so that a long delay holds up nothing. */
function stillThereAfter(delayMs: number, response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs, true);
    response.once('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}
