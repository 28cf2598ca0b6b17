/**
 * One question to one name server: over UDP, and over TCP where the answer was cut or did not come. Each has a random
 * id and a source port of its own, and takes answers of the asked address to the asked question only.
 */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import { errorCode } from '../../../fault.ts';
import { answersTo, decodeMessage, encodeQuery, type Message, type Query } from './message.ts';
import type { NameServer } from './name-server.ts';
import { Unreadable } from './wire.ts';

const largest = 65_535;

export type Transport = 'udp' | 'tcp';

export type Reply =
  | { readonly kind: 'answer'; readonly message: Message; readonly transport: Transport }
  /** `isOurs`: this machine has no way there, which says nothing about the server. */
  | { readonly kind: 'silence'; readonly why: string; readonly isOurs: boolean };

export interface ExchangeOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** TCP alone: nobody who cannot see the packets can put in an answer there. */
  readonly tcpOnly?: boolean;
}

export async function exchange(
  server: NameServer,
  query: Query,
  { timeoutMs, signal, tcpOnly = false }: ExchangeOptions,
): Promise<Reply> {
  const ask = (transport: Transport) => once(server, query, transport, timeoutMs, signal);
  if (tcpOnly) return ask('tcp');
  const first = await ask('udp');
  if (first.kind === 'answer' && !first.message.isTruncated) return first;
  if (first.kind === 'silence' && first.isOurs) return first;
  const second = await ask('tcp');
  // What came over UDP says more than that TCP is closed, which many leave closed.
  return second.kind === 'silence' && first.kind === 'silence' ? first : second;
}

async function once(
  server: NameServer,
  query: Query,
  transport: Transport,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Reply> {
  signal.throwIfAborted();
  const limit = AbortSignal.timeout(timeoutMs);
  const both = AbortSignal.any([limit, signal]);
  const id = randomInt(0x1_0000);
  try {
    const work = transport === 'udp' ? overUdp : overTcp;
    return { kind: 'answer', message: await work(server, query, id, both), transport };
  } catch (error) {
    signal.throwIfAborted();
    if (limit.aborted) return silence(`no answer within ${timeoutMs} ms over ${transport.toUpperCase()}`);
    if (error instanceof Unreadable) return silence(`an answer that makes no sense: ${error.message}`);
    const code = errorCode(error);
    if (code === undefined) throw error;
    return silence(inWords[code] ?? code, unreachable.includes(code));
  }
}

const unreachable = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EAFNOSUPPORT'];
const inWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was broken off',
  ENETUNREACH: 'this machine has no way there',
  EHOSTUNREACH: 'this machine has no way there',
  EADDRNOTAVAIL: 'this machine has no way there',
};

function silence(why: string, isOurs = false): Reply {
  return { kind: 'silence', why, isOurs };
}

function overUdp(server: NameServer, query: Query, id: number, signal: AbortSignal): Promise<Message> {
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
  return new Promise<Message>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    socket.on('error', reject);
    socket.on('message', (bytes) => {
      try {
        const message = decodeMessage(bytes);
        // Strangers and late answers are passed over: the right one may still come.
        if (answersTo(message, query, id)) resolve(message);
      } catch (error) {
        // Somebody who does not know the id may not end the wait with rubbish.
        if (bytes.length >= 2 && bytes.readUInt16BE(0) === id) reject(error);
      }
    });
    // Connected, so that the kernel drops what others send, and says when nobody listens there.
    socket.once('connect', () => socket.send(encodeQuery(query, id)));
    socket.connect(server.port, server.address);
  }).finally(() => socket.close());
}

function overTcp(server: NameServer, query: Query, id: number, signal: AbortSignal): Promise<Message> {
  const socket = connect({ host: server.address, port: server.port });
  return new Promise<Message>((resolve, reject) => {
    const got = Buffer.alloc(largest + 2);
    let size = 0;
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    socket.on('error', reject);
    socket.once('close', () => reject(new Unreadable('it ends before it is whole')));
    socket.on('data', (chunk) => {
      size += chunk.copy(got, size);
      const length = got.readUInt16BE(0);
      if (size < 2 || size < length + 2) return;
      try {
        const message = decodeMessage(got.subarray(2, length + 2));
        if (answersTo(message, query, id)) resolve(message);
        else reject(new Unreadable('it is to another question'));
      } catch (error) {
        reject(error);
      }
    });
    const bytes = encodeQuery(query, id);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    socket.write(Buffer.concat([length, bytes]));
  }).finally(() => socket.destroy());
}
