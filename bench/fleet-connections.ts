/**
 * What a connection costs that is opened for a look, beside one that is kept for the next: processor time and memory of
 * this process, which does with its pool what the service does.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readFacts } from '../src/areas/servers/connection/server-facts.ts';
import type { ServerId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { generateKeyPair } from '../src/remote/keys/keys.ts';
import { createRemotePool } from '../src/remote/pool.ts';
import { type Figure, kilobytes, milliseconds } from './figure.ts';
import { addressOf, fleetId } from './fleet-answers.ts';
import type { Simulated } from './fleet-simulated.ts';

const most = 200;
const atOnce = 10;
const rounds = 3;

export async function benchConnections(servers: number, { port, hostKeys }: Simulated): Promise<Figure[]> {
  const count = Math.min(servers, most);
  const pool = createRemotePool(async (host) => [host], createLog('silent'));
  const { privateKey } = generateKeyPair('bench');
  const ask = (server: number) => {
    const serverId = fleetId('server', server) as ServerId;
    const hostKey = hostKeys[server] ?? '';
    const at = { host: addressOf(server), port, username: 'root', privateKey, hostKey };
    return readFacts(pool.to({ serverId, ...at }));
  };
  const askFrom = async (start: number, end: number) => {
    const began = process.cpuUsage();
    for (let first = start; first < end; first += atOnce) {
      const next = Math.min(atOnce, end - first);
      await Promise.all(Array.from({ length: next }, (_, index) => ask(first + index)));
    }
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000 / (end - start);
  };
  try {
    // The first of them pay for what is loaded and compiled on first use.
    const paid = Math.floor(count / 4);
    await askFrom(0, paid);
    const before = usedKb();
    const opened = await askFrom(paid, count);
    const keptKb = (usedKb() - before) / (count - paid);
    let kept = 0;
    for (let round = 0; round < rounds; round += 1) kept += (await askFrom(0, count)) / rounds;
    const beside = { name: 'over a kept connection', amount: milliseconds(kept) };
    return [
      { what: 'processor time of a command that opens a connection', slipway: milliseconds(opened), beside },
      { what: 'objects and buffers of a kept connection', slipway: kilobytes(keptKb) },
    ];
  } finally {
    await pool.close();
  }
}

function usedKb(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_000;
}
