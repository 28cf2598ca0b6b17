/**
 * From healthy to live: through the proxy first, then traffic, then the old one's last requests are counted down. Each
 * function may be called again; the proxy's own file says what is wanted, so a restart in between does no harm.
 */

import type { ProxyFront, ProxyServer } from '../../adapters/proxy/fronts.ts';
import {
  admit,
  checkThrough,
  dismiss,
  drained,
  hold,
  removeFront,
  stopFront,
  switchTo,
} from '../../adapters/proxy/fronts.ts';
import type { ProxyRoute } from '../../adapters/proxy/routes.ts';
import { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/redact.ts';
import type { Secret } from '../../secret.ts';
import type { Site } from '../environments/place.ts';
import { type Release, type RunPlan, secretsOf } from './releases.ts';
import type { RunningContainer } from './start-release.ts';

export function proxyFront(
  { place }: Site,
  run: RunPlan,
  routes: readonly ProxyRoute[],
  servers: readonly ProxyServer[],
): ProxyFront {
  return {
    id: place.environmentId,
    port: place.port,
    hosts: [],
    routes,
    servers,
    holdSeconds: run.holdSeconds,
  };
}

export function serversOf(containers: readonly RunningContainer[], port: number): ProxyServer[] {
  return containers.map(({ name, address }) => ({ name, address, port }));
}

/** Adds them without traffic, and asks each one through the proxy. `front` is what serves now. */
export async function prove(
  site: Site,
  front: ProxyFront,
  servers: readonly ProxyServer[],
  { run, variables }: Pick<Release, 'run' | 'variables'>,
): Promise<void> {
  await admit(site, front, servers);
  // What is asked at a port of its own is not behind the proxy: there, as without a path, any answer of the app will do.
  const asked = run.health.port === null || run.health.port === run.port ? run.health.path : null;
  const path = asked ?? '/';
  for (const server of servers) {
    const timeoutMs = run.health.timeoutSeconds * 1_000;
    const { status, bytes, problem } = await checkThrough(site, front, server, {
      path,
      host: server.name,
      timeoutMs,
    });
    // The proxy's own answers are 502, 503 and 504.
    const isGood =
      status !== null && (asked === null ? status < 502 || status > 504 : status >= 200 && status < 300);
    if (isGood) continue;
    throw new Fault(
      'proxy_check_failed',
      'The new release is healthy, but does not answer through the proxy.',
      {
        hint: 'The old release goes on serving. Look at the evidence, and deploy again.',
        evidence: `${path} → ${status ?? problem ?? 'no answer'}\n${said(bytes, secretsOf({ run, variables }))}`,
      },
    );
  }
}

function said(bytes: Buffer, secrets: readonly Secret[]): string {
  return redactWhole(bytes, secrets).toString('utf8', 0, 500);
}

/** All new requests go to the servers of `front`; the others get none any more. */
export function takeOver(site: Site, front: ProxyFront): Promise<void> {
  return switchTo(site, front);
}

/** Requests wait until someone takes over. Who has one goes on with it. */
export function holdRequests(site: Site, front: ProxyFront): Promise<void> {
  return hold(site, front);
}

/** How many requests each still has when the time is up; none is the rule. */
export function drain(site: Site, front: ProxyFront, names: readonly string[], run: RunPlan) {
  if (names.length === 0) return Promise.resolve(new Map<string, number>());
  return drained(site, front.id, names, { forMs: run.drainSeconds * 1_000 });
}

export function letGo(site: Site, front: ProxyFront, names: readonly string[]): Promise<void> {
  return names.length === 0 ? Promise.resolve() : dismiss(site, front.id, names);
}

/** It is stopped: 503 at once. */
export function refuseRequests(site: Site, front: ProxyFront): Promise<void> {
  return stopFront(site, { ...front, servers: [] });
}

export function forgetFront(site: Site, front: ProxyFront): Promise<void> {
  return removeFront(site, front.id);
}
