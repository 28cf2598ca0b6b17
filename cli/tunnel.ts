/** A port of this machine that leads through Slipway to a service of an environment. */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ConnectionError, failureOf } from '../sdk/problem.ts';
import { type ClientOptions, Transport } from '../sdk/transport.ts';

export interface Tunnel {
  readonly port: number;
  close(): void;
}

type Open = () => Promise<Duplex>;

/** `failed` is told of a connection that could not be made through it. */
export async function listenTo(open: Open, port: number, failed: (error: unknown) => void): Promise<Tunnel> {
  const ends = new Set<Duplex>();
  const join = async (socket: Socket) => {
    ends.add(socket);
    socket.on('error', () => socket.destroy());
    // Nothing is read before there is somewhere to put it.
    socket.pause();
    const through = await open().catch((error: unknown) => {
      socket.destroy();
      failed(error);
    });
    if (!through) return;
    ends.add(through);
    through.on('error', () => socket.destroy());
    socket.once('close', () => {
      ends.delete(socket);
      through.destroy();
    });
    through.once('close', () => {
      ends.delete(through);
      // What came to its end is still being passed on.
      if (!through.readableEnded) socket.destroy();
    });
    through.pipe(socket);
    socket.pipe(through);
  };
  // Only this machine: whoever else is on it still needs the password. Who has said everything still gets the answer.
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => void join(socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const end of ends) end.destroy();
    },
  };
}

/** One connection: a request that becomes a stream of bytes. The token goes into a header, as everywhere. */
export function openerOf(options: ClientOptions, path: string): Open {
  const transport = new Transport(options);
  const url = new URL(`/api/v1/${path}`, options.url);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return async () => {
    const bearer = await transport.bearer();
    const headers = {
      ...options.headers,
      connection: 'Upgrade',
      upgrade: 'tcp',
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      ...(options.workspace !== undefined && { 'slipway-workspace': options.workspace }),
    };
    return new Promise<Duplex>((resolve, reject) => {
      request(url, { headers, agent: false })
        .once('upgrade', (_answer, socket, head) => {
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        })
        .once('response', (answer) => void refusalOf(answer).then(reject, reject))
        .once('error', (cause) => reject(new ConnectionError(`${options.url} cannot be reached.`, { cause })))
        .end();
    });
  };
}

async function refusalOf(answer: IncomingMessage): Promise<Error> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  const { statusCode: status = 500, headers } = answer;
  if (status < 300)
    return new ConnectionError(
      'Something between here and Slipway does not let a connection become a tunnel.',
      { status },
    );
  const told = new Headers();
  for (const name of ['content-type', 'retry-after'])
    if (headers[name] !== undefined) told.set(name, String(headers[name]));
  return failureOf(new Response(Buffer.concat(chunks), { status, headers: told }));
}
