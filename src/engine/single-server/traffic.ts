/**
 * From healthy to live: through the proxy first, then traffic, then the old one's last requests are counted down. Each
 * function may be called again; the proxy's own file says what is wanted, so a restart in between does no harm.
 */

import { admitAndCheck } from '../../adapters/proxy/check-through.ts';
import { dismiss, drained } from '../../adapters/proxy/drain.ts';
import {
  hold,
  restoreFront as restore,
  stopFront,
  switchAndDrain,
  switchTo as switchFront,
} from '../../adapters/proxy/front-changes.ts';
import type { ProxyFront } from '../../adapters/proxy/fronts.ts';
import { Fault } from '../../fault.ts';
import { redactWhole } from '../../remote/exec/redact.ts';
import type { Secret } from '../../secret.ts';
import type { DockerHost } from '../docker-host.ts';
import type { Endpoint, Front, Leaving } from '../engine.ts';
import { type ReleaseSpec, secretsOf } from '../release-spec.ts';

function proxyFront({ placement }: DockerHost, { routes, endpoints, holdSeconds }: Front): ProxyFront {
  const { environmentId: id, port, clusterId } = placement;
  const isChecked = clusterId !== null;
  return { id, port, hosts: [], routes, servers: endpoints, holdSeconds, isChecked };
}

/** It is not the release that says no: the one that was asked refuses, is silent, or was taken out by the proxy's checks. */
class Unanswered extends Fault {}

export function isUnanswered(error: unknown): boolean {
  return error instanceof Error && (error instanceof Unanswered || isUnanswered(error.cause));
}

/** Adds them without traffic, and asks each one through the proxy. `front` is what serves now. */
export async function prove(
  host: DockerHost,
  serving: Front,
  endpoints: readonly Endpoint[],
  { run, variables }: ReleaseSpec,
): Promise<void> {
  const front = proxyFront(host, serving);
  // What is asked at a port of its own is not behind the proxy: there, as without a path, any answer of the app will do.
  const asked = run.health.port === null || run.health.port === run.port ? run.health.path : null;
  const path = asked ?? '/';
  const timeoutMs = run.health.timeoutSeconds * 1_000;
  for (const { status, bytes, problem } of await admitAndCheck(host, front, endpoints, { path, timeoutMs })) {
    // The proxy's own answers are 502, 503 and 504.
    const isGood =
      status !== null && (asked === null ? status < 502 || status > 504 : status >= 200 && status < 300);
    if (isGood) continue;
    const Failure = status === null ? Unanswered : Fault;
    throw new Failure(
      'proxy_check_failed',
      'The new release is healthy, but does not answer through the proxy.',
      {
        hint: 'The old release goes on serving. Look at the evidence, and deploy again.',
        evidence: `${path} → ${status ?? problem ?? 'no answer'}\n${said(bytes, secretsOf({ run, variables }))}`,
      },
    );
  }
}

/** Whether the proxy gets an answer of each, whatever it is. */
export async function reachesAll(host: DockerHost, front: Front): Promise<boolean> {
  const options = { path: '/', timeoutMs: 2_000 };
  const answers = await admitAndCheck(host, proxyFront(host, front), front.endpoints, options);
  return answers.every(({ status }) => status !== null);
}

function said(bytes: Buffer, secrets: readonly Secret[]): string {
  return redactWhole(bytes, secrets).toString('utf8', 0, 500);
}

export async function switchTo(
  host: DockerHost,
  front: Front,
  { names, drainSeconds }: Leaving = { names: [], drainSeconds: 0 },
): Promise<ReadonlyMap<string, number>> {
  const wanted = proxyFront(host, front);
  if (names.length > 0) return switchAndDrain(host, wanted, names, { forMs: drainSeconds * 1_000 });
  await switchFront(host, wanted);
  return new Map();
}

export function holdRequests(host: DockerHost, front: Front): Promise<void> {
  return hold(host, proxyFront(host, front));
}

export async function drain(
  host: DockerHost,
  names: readonly string[],
  drainSeconds: number,
): Promise<ReadonlyMap<string, number>> {
  if (names.length === 0) return new Map();
  return drained(host, host.placement.environmentId, names, { forMs: drainSeconds * 1_000 });
}

export async function removeFromProxy(host: DockerHost, names: readonly string[]): Promise<void> {
  if (names.length > 0) await dismiss(host, host.placement.environmentId, names);
}

export function refuseRequests(host: DockerHost, front: Front): Promise<void> {
  return stopFront(host, { ...proxyFront(host, front), servers: [] });
}

export function restoreFront(host: DockerHost, front: Front): Promise<void> {
  return restore(host, proxyFront(host, front));
}
