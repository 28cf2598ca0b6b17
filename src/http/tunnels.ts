/**
 * Requests that become a stream of bytes in both directions (`Upgrade: tcp`). Until they do they are requests like all
 * others: who asks, how often and whether they may is decided before, and they are counted, noted and logged.
 */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Duplex, Readable, Writable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { minute } from '../clock.ts';
import { errorText, Fault } from '../fault.ts';
import { type LiveAccess, watchAccess } from './live.ts';

/** The other end. */
export interface ByteStream {
  readonly stdin: Writable;
  readonly stdout: Readable;
}

/** So long without a byte in either direction, a tunnel is closed. */
const idleMs = 30 * minute;
const lingerMs = 1_000;

const protocol = 'tcp';

/** Whatever else is asked to become something else is answered as it is: its body would not be read any more. */
export function isTunnel({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === protocol && /\/tunnel(\?|$)/.test(url);
}

/** Those whose connection is ours to use: the header alone does not say so. */
const taken = new WeakSet<IncomingMessage>();

interface Routing {
  readonly server: Server;
  routing(request: IncomingMessage, response: ServerResponse): void;
}

export function takeTunnels({ server, routing }: Routing): void {
  server.on('upgrade', (request: IncomingMessage, _socket: Duplex, head: Buffer) => {
    const { socket } = request;
    // Whoever reads or writes is told; without a listener it would end the service.
    socket.on('error', () => undefined);
    if (head.length > 0) socket.unshift(head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    // A refusal is the last that is said here. Nobody reads on: that the client closes would not be seen.
    response.once('finish', () => socket.destroySoon());
    taken.add(request);
    routing(request, response);
  });
}

export function requireTunnel({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (taken.has(raw)) return;
  reply.header('upgrade', protocol).header('connection', 'upgrade');
  throw new Fault('upgrade_required', 'This becomes a stream of bytes, and has to be asked to.', {
    hint: 'Send «Connection: Upgrade» and «Upgrade: tcp». `slipway connect` does.',
  });
}

/** Ends when either side does, when nothing moves, or when whoever opened it may no longer. */
export async function openTunnel(
  request: FastifyRequest,
  reply: FastifyReply,
  access: LiveAccess,
  stream: ByteStream,
): Promise<void> {
  reply.hijack();
  const { raw } = reply;
  const { socket } = request.raw;
  const over = new AbortController();
  raw.once('close', () => over.abort(new Error('the client has gone')));
  const unwatch = watchAccess(request, access, (why) => over.abort(why));
  raw.writeHead(101, { 'x-request-id': request.id, connection: 'Upgrade', upgrade: protocol });
  raw.flushHeaders();
  socket.setNoDelay(true);
  const why = await carry(socket, stream, idleMs, over.signal);
  unwatch();
  request.log.info({ requestId: request.id, why }, 'a tunnel has ended');
}

/** In both directions at once, until the other end has said everything. Says why it ended otherwise. */
export async function carry(
  socket: Duplex,
  { stdin, stdout }: ByteStream,
  idleAfterMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(() => resolve('nothing moved'), idleAfterMs);
  const told = () => resolve(errorText(signal.reason));
  if (signal.aborted) told();
  signal.addEventListener('abort', told, { once: true });
  // Not `pipeline`: the other end closes its input with its output, and what it said last is still to be passed on.
  stdout.pipe(socket).pipe(stdin);
  for (const each of [socket, stdout]) each.on('data', () => timer.refresh());
  stdin.on('error', () => undefined);
  stdout.once('error', (error) => resolve(errorText(error)));
  stdout.once('close', () => !stdout.readableEnded && resolve('the other end broke off'));
  socket.once('close', () => resolve('the client has gone'));
  socket.once('finish', () => resolve(undefined));
  const why = await promise;
  clearTimeout(timer);
  signal.removeEventListener('abort', told);
  for (const each of [stdin, stdout]) each.destroy();
  // Who was told the end closes, too; who does not is not waited for.
  if (why !== undefined) socket.destroy();
  else setTimeout(() => socket.destroy(), lingerMs).unref();
  return why;
}
