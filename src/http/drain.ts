/** Closing a server without losing a request: what runs may finish, what does nothing is closed. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const drainWithinMs = 10_000;
const sweepMs = 50;

/** Begins to watch the server's connections; the function it gives closes it, in good order. */
export function drainable(server: Server, close: () => Promise<unknown>): () => Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    const late = setTimeout(() => server.closeAllConnections(), drainWithinMs);
    const sweep = setInterval(() => {
      // A connection whose last answer was under way is kept alive by its client: nobody else closes it.
      server.closeIdleConnections();
      // One that never said anything does not count as idle. Browsers open such ones in advance.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    }, sweepMs);
    await close();
    clearInterval(sweep);
    clearTimeout(late);
  };
}
