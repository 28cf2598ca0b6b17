/** Starts the simulated servers, and speaks with them: for the bench, and for the test that they still answer right. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../test/support/free-port.ts';
import type { Asked, FromServers, ToServers } from './fleet-servers.ts';

export interface Simulated {
  readonly port: number;
  /** Of each server, in order. */
  readonly hostKeys: readonly string[];
  readonly crash: (server: number, index: number) => void;
  readonly ask: () => Promise<Asked>;
  readonly end: () => Promise<void>;
}

export async function simulate(servers: number): Promise<Simulated> {
  const port = await freePort();
  const child = fork(new URL('fleet-servers.ts', import.meta.url), [String(servers), String(port)]);
  const ended = once(child, 'exit');
  const heard = (): Promise<FromServers> =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      void ended.then(([code]) => reject(new Error(`the simulated servers ended with ${code}`)));
    });
  const tell = (message: ToServers) => child.send(message);
  const first = await heard();
  if (first.told !== 'listening') throw new Error('the simulated servers do not listen');
  return {
    port,
    hostKeys: first.hostKeys,
    crash: (server, index) => tell({ say: 'crash', server, index }),
    ask: async () => {
      tell({ say: 'tell' });
      const told = await heard();
      if (told.told !== 'asked') throw new Error('the simulated servers began anew');
      return told;
    },
    end: async () => {
      child.kill();
      await ended;
    },
  };
}
