/** What people do while the service looks after its servers: they read, and they wait for news of a crash. */
import { setTimeout as sleep } from 'node:timers/promises';
import { signAccessToken } from '../src/areas/accounts/tokens.ts';
import type { AccountId, SessionId } from '../src/ids.ts';
import { Secret } from '../src/secret.ts';
import { MasterKeys } from '../src/store/master-keys.ts';
import { Random } from '../test/support/random.ts';
import { environmentNumber, environmentsEach, fleetId, serversInWorkspace } from './fleet-answers.ts';
import { scaleKey } from './scale-calls.ts';

/** How long each took, in milliseconds. */
export interface Reads {
  readonly environment: number[];
  readonly projects: number[];
  /** How many were answered with 503: who reads waits too long for the database. */
  refused: number;
}

const pauseMs = 20;
const crashesAMinute = 8;
const longestWaitMs = 10 * 60_000;
const keys = new MasterKeys(new Secret(Buffer.from(scaleKey, 'base64')));
const tokens = new Map<number, string>();

/** As the person whose workspace the server is in. Undefined where the service is too busy to answer. */
async function read(url: string, server: number, path: string): Promise<Record<string, unknown> | undefined> {
  const workspace = Math.floor(server / serversInWorkspace);
  let token = tokens.get(workspace);
  if (token === undefined) {
    const accountId = fleetId('account', workspace) as AccountId;
    const sessionId = fleetId('session', workspace) as SessionId;
    token = await signAccessToken(keys, new Date(), { accountId, sessionId });
    tokens.set(workspace, token);
  }
  const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (answer.status === 503) return undefined;
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

/** One after the other, with a pause between: a few dozen a second. */
export async function readFor(url: string, servers: number, ms: number): Promise<Reads> {
  // They last a quarter of an hour; a run may take longer.
  tokens.clear();
  const random = new Random(1);
  const reads: Reads = { environment: [], projects: [], refused: 0 };
  const timed = async (taken: number[], server: number, path: string) => {
    const began = performance.now();
    if (!(await read(url, server, path))) reads.refused += 1;
    taken.push(performance.now() - began);
    await sleep(pauseMs);
  };
  for (const until = performance.now() + ms; performance.now() < until; ) {
    const server = random.between(0, servers - 1);
    const environment = fleetId('environment', environmentNumber(server, 0));
    await timed(reads.environment, server, `/environments/${environment}`);
    await timed(reads.projects, server, '/projects');
  }
  return reads;
}

/** Lets one crash every few seconds, and tells of each how long it took until the API said so. */
export async function crashes(
  url: string,
  servers: number,
  minutes: number,
  crash: (server: number, index: number) => void,
): Promise<number[]> {
  const random = new Random(2);
  const noticed: Promise<number>[] = [];
  const seen = new Set<number>();
  for (let count = 0; count < minutes * crashesAMinute; count += 1) {
    const [server, index] = [random.between(0, servers - 1), random.between(0, environmentsEach - 1)];
    if (!seen.has(environmentNumber(server, index))) {
      seen.add(environmentNumber(server, index));
      crash(server, index);
      noticed.push(untilNoticed(url, server, index));
    }
    await sleep(60_000 / crashesAMinute);
  }
  return Promise.all(noticed);
}

async function untilNoticed(url: string, server: number, index: number): Promise<number> {
  const path = `/environments/${fleetId('environment', environmentNumber(server, index))}`;
  const began = performance.now();
  while (performance.now() - began < longestWaitMs) {
    if ((await read(url, server, path))?.status === 'degraded') return performance.now() - began;
    await sleep(500);
  }
  throw new Error(`the crash on ${path} was not noticed`);
}
