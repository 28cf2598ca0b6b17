/** What the tests of this folder share: servers on loopback, and a network in which every packet is counted. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { CheckedAddress, Dial } from '../../src/adapters/egress/egress.ts';

export interface Place {
  readonly port: number;
  readonly url: string;
}

export async function startServer(
  t: TestContext,
  answer: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Place> {
  const server: Server = tls ? createTlsServer(tls, answer) : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return { port: address.port, url: `${tls ? 'https' : 'http'}://127.0.0.1:${address.port}` };
}

/** Connects to a server on loopback, whatever the address: nothing that a test names is ever reached. */
export function stubbedNetwork(port?: number): { dial: Dial; dialled: (readonly CheckedAddress[])[] } {
  const dialled: (readonly CheckedAddress[])[] = [];
  const dial: Dial = (wish, addresses, callback) => {
    dialled.push(addresses);
    if (port === undefined) return callback(new Error('no packet may leave'), null);
    const host = '127.0.0.1';
    const isTls = wish.protocol === 'https:';
    const socket = isTls
      ? connectTls({ host, port, servername: wish.servername ?? '' })
      : connect({ host, port });
    socket.once('error', (error) => callback(error, null));
    socket.once(isTls ? 'secureConnect' : 'connect', () => callback(null, socket));
  };
  return { dial, dialled };
}
