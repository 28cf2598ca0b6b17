/** Asking another name server: over UDP, over TCP when the answer was cut, one upstream after the other. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIP, isIPv6 } from 'node:net';
import { InputError } from '../control/input.ts';
import { rcodes } from './lookup.ts';
import { questionEnd } from './message.ts';

export interface Upstream {
  readonly address: string;
  readonly port: number;
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`. */
export function upstreamOf(text: string): Upstream {
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = isIPv6(text) ? text : (bracketed ?? plain ?? '');
  const number = isIPv6(text) ? 53 : Number(port);
  if (isIP(address) === 0 || number < 1 || number > 65_535)
    throw new InputError(
      `"${text}" is no upstream: give an address and perhaps a port, such as 192.0.2.53:53.`,
    );
  return { address, port: number };
}

export function shownUpstream({ address, port }: Upstream): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

export interface Forwarded {
  /** The answer as it came, with our own id; undefined where nobody answered. */
  readonly reply: Buffer | undefined;
  readonly failures: readonly string[];
}

/** One that answers SERVFAIL or REFUSED cannot help, so the next is asked; its answer is kept for want of a better. */
export async function forward(
  query: Buffer,
  upstreams: readonly Upstream[],
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Forwarded> {
  const failures: string[] = [];
  let unwilling: Buffer | undefined;
  for (const upstream of upstreams) {
    const answer = await ask(query, upstream, timeoutMs, stop);
    if (stop.aborted) return { reply: undefined, failures };
    if (answer instanceof Error) {
      failures.push(`${shownUpstream(upstream)}: ${answer.message}`);
      continue;
    }
    const rcode = answer.readUInt16BE(2) & 0xf;
    if (rcode !== rcodes.SERVFAIL && rcode !== rcodes.REFUSED) return { reply: answer, failures };
    failures.push(`${shownUpstream(upstream)} answered with code ${rcode}`);
    unwilling ??= answer;
  }
  return { reply: unwilling, failures };
}

async function ask(
  query: Buffer,
  to: Upstream,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Buffer | Error> {
  const own = Buffer.from(query);
  own.writeUInt16BE(randomInt(0x1_0000), 0);
  try {
    const answer = await within(timeoutMs, stop, (signal) => askUdp(own, to, signal));
    const cut = (answer.readUInt16BE(2) & 0x0200) !== 0;
    const whole = cut ? await within(timeoutMs, stop, (signal) => askTcp(own, to, signal)) : answer;
    whole.writeUInt16BE(query.readUInt16BE(0), 0);
    return whole;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

async function within<T>(
  timeoutMs: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  stop.throwIfAborted();
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await work(AbortSignal.any([limit.signal, stop]));
  } finally {
    clearTimeout(timer);
  }
}

function askUdp(query: Buffer, to: Upstream, signal: AbortSignal): Promise<Buffer> {
  const socket = createSocket(isIPv6(to.address) ? 'udp6' : 'udp4');
  return new Promise<Buffer>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    socket.on('error', reject);
    // Strangers and late answers are passed over: the right one may still come.
    socket.on('message', (bytes) => answers(bytes, query) && resolve(bytes));
    // Connected, so that the kernel drops what others send and says when nobody listens there.
    socket.once('connect', () => socket.send(query));
    socket.connect(to.port, to.address);
  }).finally(() => socket.close());
}

function askTcp(query: Buffer, to: Upstream, signal: AbortSignal): Promise<Buffer> {
  const socket = connect(to.port, to.address);
  return new Promise<Buffer>((resolve, reject) => {
    let got = Buffer.alloc(0);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed before the answer was whole')));
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      const size = got.length < 2 ? Number.POSITIVE_INFINITY : got.readUInt16BE(0);
      if (got.length < size + 2) return;
      const reply = got.subarray(2, size + 2);
      if (answers(reply, query)) resolve(reply);
      else reject(new Error('the answer over TCP was to another question'));
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.write(Buffer.concat([length, query]));
  }).finally(() => socket.destroy());
}

/** Same id, and the same question without regard to case. Refusals may leave the question out. */
function answers(reply: Buffer, query: Buffer): boolean {
  if (reply.length < 12 || reply.readUInt16BE(0) !== query.readUInt16BE(0)) return false;
  const flags = reply.readUInt16BE(2);
  if ((flags & 0x8000) === 0) return false;
  if (reply.readUInt16BE(4) === 0) return (flags & 0xf) !== 0;
  const end = questionEnd(query);
  const lower = (bytes: Buffer) => bytes.subarray(12, end).toString('latin1').toLowerCase();
  return reply.length >= end && lower(reply) === lower(query);
}
