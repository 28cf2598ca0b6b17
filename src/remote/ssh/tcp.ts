/** The network below SSH: TCP to the addresses of a host. Each failure as a fault that says where to look. */
import { connect, type Socket } from 'node:net';
import { errorCode, errorText, Fault } from '../../fault.ts';
import { raceAbort } from './deadline.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly resolve: ResolveHost;
}

/**
 * From a host to the addresses that may be connected to, best first. It is asked for every connection, and the connection
 * goes to what it answers: whoever has no answer from it reaches nothing, and a name that changes gains nothing.
 */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

/** The first address that accepts. The caller closes it. */
export async function dial(
  { host, port, resolve }: Endpoint,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Socket> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const either = signal ? AbortSignal.any([timeout, signal]) : timeout;
  try {
    const addresses = await raceAbort(resolve(host), either);
    return await dialFirst(addresses, port, either);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof Fault) throw error;
    throw connectionFault({ host, port }, error, timeoutMs);
  }
}

/** Throws unless the port accepts connections. */
export async function tcpCheck(endpoint: Endpoint, timeoutMs = 10_000, signal?: AbortSignal): Promise<void> {
  const socket = await dial(endpoint, timeoutMs, signal);
  socket.destroy();
}

async function dialFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  const failures: unknown[] = [];
  for (const address of addresses) {
    try {
      return await dialOne(address, port, signal);
    } catch (error) {
      failures.push(error);
      if (signal.aborted) break;
    }
  }
  throw failures.length === 1 ? failures[0] : new AggregateError(failures);
}

function dialOne(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    // SSH speaks in small packets, one after the other: holding them back would cost 40 ms each.
    const socket = connect({ host, port, noDelay: true });
    const stop = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    socket.once('error', (error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    });
    socket.once('connect', () => {
      signal.removeEventListener('abort', stop);
      socket.removeAllListeners('error');
      corkWrites(socket);
      resolve(socket);
    });
  });
}

function connectionFault(
  { host, port }: Omit<Endpoint, 'resolve'>,
  error: unknown,
  timeoutMs: number,
): Fault {
  const codes = (error instanceof AggregateError ? error.errors : [error]).map(errorCode);
  if (codes.includes('ECONNREFUSED')) {
    return new Fault('port_refused', `${host} refuses connections on port ${port}.`, {
      hint: 'Check that sshd runs on the server, and on this port.',
      evidence: errorText(error),
      cause: error,
    });
  }
  const isSilent = codes.every((code) => code === undefined);
  return new Fault('port_filtered', `Port ${port} of ${host} does not answer.`, {
    hint: 'Check that the server is up, that the address is right, and that no firewall drops connections from here.',
    evidence: isSilent ? `no answer within ${timeoutMs / 1000} s` : errorText(error),
    cause: error,
  });
}

type WriteCallback = (error?: Error | null) => void;

/**
 * Sends what is written in one turn of the event loop together. The SSH library writes every packet in three pieces; sent
 * one by one they cost three system calls and, without Nagle's algorithm, three segments.
 */
function corkWrites(socket: Socket): void {
  const write = socket.write.bind(socket);
  let isCorked = false;
  socket.write = (
    data: Uint8Array | string,
    encoding?: BufferEncoding | WriteCallback,
    done?: WriteCallback,
  ): boolean => {
    if (!isCorked) {
      isCorked = true;
      socket.cork();
      process.nextTick(() => {
        isCorked = false;
        socket.uncork();
      });
    }
    return typeof encoding === 'string' ? write(data, encoding, done) : write(data, encoding ?? done);
  };
}
