/** What can be done to a site: let servers in, give them the requests, hold or refuse requests, take it away. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';
import { markerOf, mustBeServers, mustBeSite, renderSite, type SiteState, stateOf } from './render-site.ts';
import { entriesOf, mustBeHost, mustBeRoutes, type ProxyRoute } from './routes.ts';
import { settle } from './settle.ts';
import type { ProxyServer, ProxySite, ProxyWork } from './sites.ts';

/**
 * Makes sure that the site is there, with the servers that it has now, and lets more in without giving them requests:
 * they can be tried through the proxy. Servers that have requests already keep them.
 */
export async function admit(
  work: ProxyWork,
  site: ProxySite,
  servers: readonly ProxyServer[],
): Promise<void> {
  mustBeServers(servers);
  await settle(work, {
    id: site.id,
    file: { write: 'unless-shaped', text: renderSite(site) },
    marker: { name: markerOf(site), state: 'keep' },
    ready: [],
    idle: servers,
    others: 'keep',
    hosts: 'keep',
  });
}

/** From now on these servers get the requests, and no others. It ends a hold. */
export async function switchTo(work: ProxyWork, site: ProxySite): Promise<void> {
  if (site.servers.length === 0)
    throw new Fault('invalid_input', 'Requests cannot be given to nobody; a site is stopped instead.');
  await bring(work, site, 'serving');
}

/**
 * Nobody gets a new request: they wait for the next switch, each at most `holdSeconds`, and are then answered with 503.
 * Those under way go on.
 */
export async function hold(work: ProxyWork, site: ProxySite): Promise<void> {
  await bring(work, site, 'held');
}

/** New requests are answered with 503 at once, and those that wait with them. */
export async function stopSite(work: ProxyWork, site: ProxySite): Promise<void> {
  await bring(work, site, 'stopped');
}

/** After damage of any kind: file and running proxy become what the site says. */
export async function restoreSite(work: ProxyWork, site: ProxySite): Promise<void> {
  await bring(work, site, stateOf(site));
}

async function bring(work: ProxyWork, site: ProxySite, state: SiteState): Promise<void> {
  mustBeSite(site);
  await settle(work, {
    id: site.id,
    file: { write: 'always', text: renderSite(site, state) },
    marker: { name: markerOf(site), state: state === 'stopped' ? 'off' : 'on' },
    ready: state === 'serving' ? site.servers : [],
    idle: [],
    others: 'drain',
    hosts: entriesOf(site),
  });
}

/**
 * Its names become these, at once and without a reload; what else the site is stays as it is. Before there is a site they
 * answer with 503, as a stopped one does. A name that another site had is taken from it.
 */
export async function setRoutes(
  work: ProxyWork,
  id: EnvironmentId,
  { hosts = [], routes }: { readonly hosts?: readonly string[]; readonly routes: readonly ProxyRoute[] },
): Promise<void> {
  hosts.forEach(mustBeHost);
  mustBeRoutes(routes);
  await settle(work, {
    id,
    file: { write: 'keep' },
    marker: { name: 'shape_none', state: 'keep' },
    ready: [],
    idle: [],
    others: 'keep',
    hosts: entriesOf({ hosts, routes }),
  });
}

/** Its port is closed, its names lead nowhere; connections that are open end by themselves. */
export async function removeSite(work: ProxyWork, id: EnvironmentId): Promise<void> {
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
