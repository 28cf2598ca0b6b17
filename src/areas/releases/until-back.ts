/** What is worth waiting for: for all work on servers that may be away for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../fault.ts';
import type { Retry } from '../../operations/definition.ts';

/** A server, a Git host, a Docker or a proxy that is away for some minutes ends no deployment; a refusal does. */
const passingCodes = new Set([
  ...[
    'remote_unreachable',
    'remote_timeout',
    'port_refused',
    'port_filtered',
    'docker_missing',
    'proxy_down',
    'name_not_resolved',
  ],
  ...['git_failed', 'provider_unreachable', 'provider_failed', 'egress_failed', 'build_lost'],
]);

export function isPassing(error: unknown): boolean {
  return error instanceof Fault && passingCodes.has(error.code);
}

/** Together about ten minutes. */
export const untilBack: Retry = { attempts: 45, firstMs: 500, mostMs: 15_000, when: isPassing };

/** For undoing: a server that is away is waited for, up to the step's deadline. What it refuses, it refuses. */
export async function untilDone(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, 15_000)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
