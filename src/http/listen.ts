/** Begins to listen, and says in words why that is not possible. Gives back where it really is, with the port that was taken. */
import type { AddressInfo } from 'node:net';
import { errorCode, Fault } from '../fault.ts';
import type { HttpServer } from './server.ts';

export async function listen(
  server: HttpServer,
  host: string,
  port: number,
  setting: string,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const code = errorCode(error);
    const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (code === 'EADDRINUSE') {
      throw new Fault(
        'port_taken',
        `${where} is taken by another program. Stop it, or set ${setting} to another one.`,
      );
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new Fault(
        'wrong_setting',
        `Slipway cannot listen on ${where} (${code}). Check SLIPWAY_HOST and ${setting}.`,
      );
    }
    throw error;
  }
  const address = server.server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${shown}:${address.port}`;
}
