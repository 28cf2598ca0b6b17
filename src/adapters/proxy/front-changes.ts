/** What can be done to a front: let servers in, give them the requests, hold or refuse requests, take it away. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';
import type { ProxyFront, ProxyServer, ProxyWork } from './fronts.ts';
import {
  type FrontState,
  markerOf,
  mustBeFront,
  mustBeServers,
  renderFront,
  stateOf,
} from './render-front.ts';
import { entriesOf } from './routes.ts';
import { settle } from './settle.ts';

/**
 * Makes sure that the front is there, with the servers that it has now, and lets more in without giving them requests:
 * they can be tried through the proxy. Servers that have requests already keep them.
 */
export async function admit(
  work: ProxyWork,
  front: ProxyFront,
  servers: readonly ProxyServer[],
): Promise<void> {
  mustBeServers(servers);
  await settle(work, {
    id: front.id,
    file: { write: 'unless-shaped', text: renderFront(front) },
    marker: { name: markerOf(front), state: 'keep' },
    ready: [],
    idle: servers,
    others: 'keep',
    hosts: 'keep',
  });
}

/** From now on these servers get the requests, and no others. It ends a hold. */
export async function switchTo(work: ProxyWork, front: ProxyFront): Promise<void> {
  if (front.servers.length === 0)
    throw new Fault('invalid_input', 'Requests cannot be given to nobody; a front is stopped instead.');
  await bring(work, front, 'serving');
}

/**
 * Nobody gets a new request: they wait for the next switch, each at most `holdSeconds`, and are then answered with 503.
 * Those under way go on.
 */
export async function hold(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, 'held');
}

/** New requests are answered with 503 at once, and those that wait with them. */
export async function stopFront(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, 'stopped');
}

/** After damage of any kind: file and running proxy become what the front says. */
export async function restoreFront(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, stateOf(front));
}

async function bring(work: ProxyWork, front: ProxyFront, state: FrontState): Promise<void> {
  mustBeFront(front);
  await settle(work, {
    id: front.id,
    file: { write: 'always', text: renderFront(front, state) },
    marker: { name: markerOf(front), state: state === 'stopped' ? 'off' : 'on' },
    ready: state === 'serving' ? front.servers : [],
    idle: [],
    others: 'drain',
    hosts: entriesOf(front),
  });
}

/** Its port is closed, its names lead nowhere; connections that are open end by themselves. */
export async function removeFront(work: ProxyWork, id: EnvironmentId): Promise<void> {
  await settle(work, {
    id,
    file: { write: 'remove' },
    marker: { name: 'shape_none', state: 'keep' },
    ready: [],
    idle: [],
    others: 'keep',
    hosts: [],
  });
}
