/**
 * Names on ports 80 and 443 and what is done with requests to them. All of it is data in the proxy's maps, so that a
 * change needs no reload. A name of a front without a route is served on both ports, as it comes.
 */
import { Fault } from '../../fault.ts';
import type { ProxyFront, ProxyRoute } from './fronts.ts';

/** A name of the front, and what the map says of it; null where there is no route for it. */
export interface HostEntry {
  readonly host: string;
  readonly policy: string | null;
}

const longestHstsSeconds = 10 * 366 * 86_400;

export function entriesOf({ hosts, routes = [] }: Pick<ProxyFront, 'hosts' | 'routes'>): HostEntry[] {
  const routed = routes.map((route) => ({ host: route.host, policy: policyOf(route, routes) }));
  const names = new Set(routes.map(({ host }) => host));
  const plain = hosts.filter((host) => !names.has(host)).map((host) => ({ host, policy: null }));
  return [...routed, ...plain];
}

/**
 * How requests without TLS are treated, the seconds of HSTS, and where requests go instead: those without TLS, those
 * with it. A name to which they are sent is reached in one step: its own rules for TLS are looked up now.
 */
export function policyOf(route: ProxyRoute, all: readonly ProxyRoute[]): string {
  const { tls, redirectHttp, hstsSeconds, redirectTo } = route;
  const scheme = redirectHttp ? (tls ? 'force' : 'spec') : tls ? 'tls' : 'plain';
  const hsts = tls && hstsSeconds !== null ? String(hstsSeconds) : '-';
  if (redirectTo === null) return [scheme, hsts, '-', '-'].join('|');
  const target = all.find(({ host }) => host === redirectTo) ?? { tls, redirectHttp };
  const whenPlain = target.tls && target.redirectHttp ? 'https' : 'http';
  const whenTls = target.tls ? 'https' : 'http';
  return [scheme, hsts, `${whenPlain}://${redirectTo}`, `${whenTls}://${redirectTo}`].join('|');
}

/** Back from the map. What a name without TLS would have for HSTS is not kept. */
export function routeFrom(host: string, policy: string): ProxyRoute {
  const [scheme, hsts, to = '-'] = policy.split('|');
  return {
    host,
    tls: scheme === 'tls' || scheme === 'force',
    redirectHttp: scheme === 'force' || scheme === 'spec',
    hstsSeconds: hsts === undefined || hsts === '-' ? null : Number(hsts),
    redirectTo: to === '-' ? null : to.replace(/^https?:\/\//, ''),
  };
}

export function mustBeRoutes(routes: readonly ProxyRoute[]): void {
  for (const { host, hstsSeconds, redirectTo } of routes) {
    mustBeHost(host.replace(/^\*\./, ''));
    if (hstsSeconds !== null && !isHsts(hstsSeconds))
      throw wrong('HSTS is told in whole seconds, ten years at most', String(hstsSeconds));
    if (redirectTo === null) continue;
    mustBeHost(redirectTo);
    if (redirectTo === host) throw wrong('A host cannot be sent to itself', host);
  }
  const names = routes.map(({ host }) => host);
  if (new Set(names).size < names.length) throw wrong('A host has one route', names.join(' '));
}

function isHsts(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= longestHstsSeconds;
}

/** A-labels only; the map is compared with names in small letters. */
export function mustBeHost(host: string): void {
  const label = '(?!-)[a-z0-9-]{1,63}(?<!-)';
  if (host.length > 253 || !new RegExp(`^${label}(\\.${label})+$`).test(host))
    throw wrong('A host is a name in small letters, as DNS has it', host);
}

function wrong(what: string, evidence: string): Fault {
  return new Fault('invalid_input', `${what}.`, { evidence });
}
