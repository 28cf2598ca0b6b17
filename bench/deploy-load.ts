/**
 * Twenty deployments in a row under constant load: how many requests failed, and how long they took. Then the same by
 * hand, since on one machine everything is in everyone's way.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket, visit } from '../test/support/proxy.ts';
import type { ByHand } from './deploy-by-hand.ts';
import type { Body, DeployBench } from './deploy-scene.ts';
import { count, type Figure, milliseconds } from './figure.ts';

const visitors = 16;
const deployments = 20;
/** Each visitor rests between two requests: a machine that is only waiting for itself measures itself. */
const restMs = 15;

export async function underLoad(
  bench: DeployBench,
  environmentId: string,
  hand: ByHand,
  app: string,
  settings: Body,
): Promise<Figure[]> {
  const other = await bench.environment('second', app, settings);
  const url = async (id: string) => String((await bench.call('GET', `/environments/${id}`)).url);
  const [here, there] = [await url(environmentId), await url(other)];
  const sockets = await Promise.all([1, 2, 3].map(() => openSocket(there)));
  const load = new Load(here);
  load.phase = 'outside';
  await sleep(15_000);
  load.phase = 'during';
  for (let round = 0; round < deployments; round += 1) {
    await bench.commit('first', { 'version.js': `module.exports = 'load ${round}';\n` });
    const own = await openSocket(here);
    await bench.deploy(environmentId);
    own.close();
  }
  load.phase = 'outside';
  await sleep(15_000);
  await load.end();
  const handDuring = await byHandUnderLoad(hand);
  const alive = await Promise.all(sockets.map((socket) => socket.echoes()));
  for (const socket of sockets) socket.close();
  for (const failure of load.failures.slice(0, 3)) process.stderr.write(`${failure}\n`);
  const [during, outside] = [load.p99('during'), load.p99('outside')];
  return [
    {
      what: `requests in ${deployments} deployments and around`,
      slipway: count(load.answered),
    },
    { what: 'requests that failed', slipway: count(load.failures.length), aim: { atMost: 0 } },
    {
      what: 'p99 during deployments',
      slipway: milliseconds(during),
      beside: { name: 'during those by hand', amount: milliseconds(handDuring) },
      aim: { ratioAtMost: 0.8 },
    },
    { what: 'p99 outside of them', slipway: milliseconds(outside) },
    {
      what: `WebSockets of another application that survived, of ${alive.length}`,
      slipway: count(alive.filter(Boolean).length),
      aim: { atLeast: alive.length },
    },
  ];
}

async function byHandUnderLoad(hand: ByHand): Promise<number> {
  const load = new Load(hand.url);
  load.phase = 'during';
  for (let round = 0; round < deployments; round += 1) {
    hand.change({ 'version.js': `module.exports = 'load ${round}';\n` });
    await hand.deploy();
  }
  await load.end();
  return load.p99('during');
}

class Load {
  readonly failures: string[] = [];
  readonly #times: Record<'during' | 'outside', number[]> = { during: [], outside: [] };
  readonly #all: Promise<void>[];
  phase: 'during' | 'outside' = 'outside';
  answered = 0;
  #goesOn = true;

  constructor(url: string) {
    this.#all = Array.from({ length: visitors }, () => this.#go(url));
  }

  async #go(url: string): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const body = 'x'.repeat(2_000);
    for (let turn = 0; this.#goesOn; turn += 1) {
      const isPost = turn % 2 === 1;
      const begun = performance.now();
      try {
        const seen = await visit(url, { agent, method: isPost ? 'POST' : 'GET' }, isPost ? body : undefined);
        if (seen.status !== 200) throw new Error(`${seen.status} ${seen.text.slice(0, 80)}`);
        this.#times[this.phase].push(performance.now() - begun);
        this.answered += 1;
      } catch (error) {
        this.failures.push(`${isPost ? 'POST' : 'GET'}: ${error}`);
      }
      await sleep(restMs);
    }
    agent.destroy();
  }

  p99(phase: 'during' | 'outside'): number {
    const sorted = this.#times[phase].toSorted((one, other) => one - other);
    return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  }

  async end(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#all);
  }
}
