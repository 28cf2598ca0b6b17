/**
 * A name on this machine that one process holds at a time. The kernel gives it back when the holder is gone,
 * however it went, so that no crash leaves a lock behind. (It is a socket without a file.)
 */
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface HeldName {
  release(): Promise<void>;
}

export function tryHold(name: string): Promise<HeldName | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(`\0slipway-lab/${name}`, () => resolve({ release: () => close(server) }));
    server.unref();
  });
}

/** Waits for whoever holds it. `told` hears once that there is a wait. */
export async function hold(name: string, told: () => void = () => undefined): Promise<HeldName> {
  for (let asked = 0; ; asked += 1) {
    const held = await tryHold(name);
    if (held) return held;
    if (asked === 0) told();
    await sleep(200);
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
