/**
 * The file of a front, as the proxy reads it when it starts. A pure function of what is wanted: it names ids, addresses
 * and numbers, never a text of the user's.
 */
import { createHash } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { isAppPort } from '../../app-ports.ts';
import { Fault } from '../../fault.ts';
import type { ProxyFront, ProxyServer } from './fronts.ts';
import { allWait, backendOf, frontendOf } from './places.ts';
import { mustBeHost, mustBeRoutes } from './routes.ts';

/** `held`: nobody gets requests for now, they wait. Without servers, and not held, it is stopped. */
export type FrontState = 'serving' | 'held' | 'stopped';

/** Also given when a server is added at run time, which takes nothing from the defaults. */
const serverOptions = 'weight 100 pool-purge-delay 1s';
/**
 * Out in less than two seconds, also where its machine is silent: a check that has no answer by the next one has failed. Three of
 * them, because each cuts what is under way, and a proxy that gets no processor time misses answers, too. Back after ten seconds
 * of good ones, in which the list is compared with what runs where.
 */
const checks =
  'check inter 400ms fastinter 200ms downinter 1s fall 3 rise 10 on-marked-down shutdown-sessions';

/**
 * Shorter than a check: a machine that is silent is given up by whoever is about to connect, who then asks another one. A check
 * that fails meanwhile would end the request.
 */
const connectMs = 300;

export function serverOptionsOf({ isChecked = false }: Pick<ProxyFront, 'isChecked'>): string {
  return isChecked ? `${serverOptions} ${checks}` : serverOptions;
}

const markerPlace = 'MARKER';
const retryAfterSeconds = 5;
const longestHoldSeconds = 600;

/**
 * The marker is a server that gets no requests. Its name tells which text the running proxy has read, so that a reload
 * is made where that differs, and only there; while it is up, requests that nobody can take may wait.
 *
 * The other one that gets no requests is up while the front is held: then all of them wait, also those that somebody could
 * take. So it can be up before the last server goes, and nobody is on the way from the rules to a server that is no more.
 * Whether a request waits is decided once: the answer may change from one rule to the next.
 *
 * A worker that was replaced by a reload takes no more orders: it would send requests of connections that are still open
 * to servers that are long gone. It passes them on to its successor instead, over a socket of this machine alone.
 */
function rulesOf({ id, port, holdSeconds, isChecked = false }: ProxyFront): string {
  const backend = backendOf(id);
  const ordinary = '!{ var(txn.check) -m found } !{ stopping }';
  const nobody = '{ var(txn.nobody) -m bool }';
  const page = 'content-type text/plain string "This application is not available at the moment.\\n"';
  return `frontend ${frontendOf(id)} from slipway_in
  bind :${port}
.if defined(SLIPWAY_IPV6)
  bind :::${port} v6only
.endif
  bind abns@slipway_${backend} name inner
  default_backend ${backend}

backend ${backend} from slipway_out
${isChecked ? `  timeout connect ${connectMs}ms\n` : ''}  acl waits nbsrv(${backend}) eq 0
  acl waits srv_is_up(${backend}/${allWait})
  http-request set-var(txn.nobody) bool(true) if waits ${ordinary}
  http-request lua.hold ${backend} ${markerPlace} ${holdSeconds} if ${nobody} { srv_is_up(${backend}/${markerPlace}) }
  http-request return status 503 hdr retry-after ${retryAfterSeconds} hdr cache-control no-store ${page} if ${nobody}
  use-server forward if { stopping }
  use-server %[var(txn.check)] if { var(txn.check) -m found }
  server forward abns@slipway_${backend} weight 0
`;
}

export function markerOf(front: ProxyFront): string {
  return `shape_${createHash('sha256').update(rulesOf(front)).digest('hex').slice(0, 16)}`;
}

export function stateOf(front: ProxyFront): FrontState {
  return front.servers.length > 0 ? 'serving' : 'stopped';
}

export function renderFront(front: ProxyFront, state: FrontState = stateOf(front)): string {
  mustBeFront(front);
  const marker = markerOf(front);
  const servers = state === 'serving' ? front.servers : [];
  return `# Written by Slipway: what it starts with. Changes are made here first, then through the runtime socket.
${rulesOf(front).replaceAll(markerPlace, marker)}  server ${marker} 127.0.0.1:9 weight 0${state === 'stopped' ? ' disabled' : ''}
  server ${allWait} 127.0.0.1:9 weight 0${state === 'held' ? '' : ' disabled'}
${servers.map((each) => `  server ${each.name} ${placeOf(each)} ${serverOptionsOf(front)}\n`).join('')}`;
}

/** `address:port`, as HAProxy reads it. */
export function placeOf({ address, port }: ProxyServer): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

export function mustBeFront(front: ProxyFront): void {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(front.id))
    throw wrong('A front has a UUID', front.id);
  if (!Number.isInteger(front.port) || !isAppPort(front.port))
    throw wrong('The port of a front is one of the range for applications', String(front.port));
  const { holdSeconds } = front;
  if (!Number.isInteger(holdSeconds) || holdSeconds < 0 || holdSeconds > longestHoldSeconds)
    throw wrong(`Requests are held for 0 to ${longestHoldSeconds} whole seconds`, String(holdSeconds));
  front.hosts.forEach(mustBeHost);
  mustBeRoutes(front.routes ?? []);
  mustBeServers(front.servers);
}

export function mustBeServers(servers: readonly ProxyServer[]): void {
  for (const { name, address, port } of servers) {
    mustBeServerName(name);
    if (!isIPv4(address) && !isIPv6(address)) throw wrong('A server has an IP address', address);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw wrong('A server has a port', String(port));
  }
  if (new Set(servers.map(({ name }) => name)).size < servers.length)
    throw wrong('Two servers have the same name', servers.map(({ name }) => name).join(' '));
}

export function mustBeServerName(name: string): void {
  if (!/^[a-z0-9][a-z0-9-]{0,127}$/.test(name) || name === 'forward')
    throw wrong('A server is named with small letters, digits and dashes', name);
}

function wrong(what: string, evidence: string): Fault {
  return new Fault('invalid_input', `${what}.`, { evidence });
}
