/**
 * Sends what is written to a socket in one turn of the event loop together. The SSH library writes every packet in three
 * pieces; sent one by one they cost three calls to the kernel and, without Nagle's algorithm, three segments.
 */
import type { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

export function gatherWrites(socket: Socket): void {
  const write = socket.write.bind(socket);
  let isGathering = false;
  socket.write = (data: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    return typeof encoding === 'string' ? write(data, encoding, done) : write(data, encoding ?? done);
  };
}
