/** The sockets: UDP and TCP on one port. Knows how messages travel, and nothing of what is in them. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Transport } from './message.ts';

export interface Source {
  readonly address: string;
  readonly transport: Transport;
}

/** Undefined is silence. */
export type Respond = (bytes: Buffer, from: Source) => Promise<Buffer | undefined>;

export interface Sockets {
  readonly port: number;
  close(): Promise<void>;
}

const idleMs = 30_000;
/** With port 0 the system picks a free TCP port, which may be taken for UDP. */
const attempts = 20;

export async function listen(address: string, port: number, respond: Respond): Promise<Sockets> {
  for (let attempt = 1; ; attempt++) {
    const { server, connections } = await listenTcp(address, port, respond);
    const bound = portOf(server);
    const closing = new AbortController();
    const udp = await listenUdp(address, bound, respond, closing.signal).catch((error) => failed(error));
    const close = (socket: UdpSocket) => {
      closing.abort();
      return closeAll(server, connections, socket);
    };
    if (!(udp instanceof Error)) return { port: bound, close: () => close(udp) };
    await closeAll(server, connections);
    const another = port === 0 && 'code' in udp && udp.code === 'EADDRINUSE' && attempt < attempts;
    if (!another) throw udp;
  }
}

function failed(error: unknown): Error {
  if (error instanceof Error) return error;
  throw error;
}

/** The signal, because the event that a socket was closed comes later than the first answer that can no longer go. */
async function listenUdp(
  address: string,
  port: number,
  respond: Respond,
  closing: AbortSignal,
): Promise<UdpSocket> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  socket.on('message', async (bytes, remote) => {
    const reply = await respond(bytes, { address: remote.address, transport: 'udp' });
    // A datagram that cannot be sent is one that was lost: the client asks again.
    if (reply && !closing.aborted) socket.send(reply, remote.port, remote.address, () => undefined);
  });
  socket.bind(port, address);
  try {
    await once(socket, 'listening');
  } catch (error) {
    socket.close();
    throw error;
  }
  return socket;
}

async function listenTcp(address: string, port: number, respond: Respond) {
  const connections = new Set<Socket>();
  // Half open, because a client may say that it has no more questions and still wait for answers.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    serve(socket, respond);
  });
  server.listen(port, address);
  await once(server, 'listening');
  return { server, connections };
}

/** Questions on one connection are answered as answers are found, not in order (RFC 7766). */
function serve(socket: Socket, respond: Respond): void {
  const from: Source = { address: socket.remoteAddress ?? 'unknown', transport: 'tcp' };
  let got = Buffer.alloc(0);
  let open = 0;
  let ended = false;
  const settle = () => ended && open === 0 && socket.end();
  const answer = async (bytes: Buffer) => {
    open++;
    const reply = await respond(bytes, from);
    open--;
    if (reply && socket.writable) socket.write(Buffer.concat([lengthOf(reply), reply]));
    settle();
  };
  socket.on('data', (chunk) => {
    got = Buffer.concat([got, chunk]);
    while (got.length >= 2 && got.length >= got.readUInt16BE(0) + 2) {
      const end = got.readUInt16BE(0) + 2;
      answer(got.subarray(2, end));
      got = got.subarray(end);
    }
  });
  socket.on('end', () => {
    ended = true;
    settle();
  });
  socket.setTimeout(idleMs, () => socket.destroy());
  // A client that breaks off has nobody left to tell; the socket closes by itself.
  socket.on('error', () => socket.destroy());
}

function lengthOf(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return length;
}

function portOf(server: Server): number {
  const bound = server.address();
  if (typeof bound === 'object' && bound !== null) return bound.port;
  throw new Error('The DNS server has no port, though it listens.');
}

async function closeAll(server: Server, connections: ReadonlySet<Socket>, udp?: UdpSocket): Promise<void> {
  const closed = [once(server, 'close'), ...(udp ? [once(udp, 'close')] : [])];
  server.close();
  udp?.close();
  for (const socket of connections) socket.destroy();
  await Promise.all(closed);
}
