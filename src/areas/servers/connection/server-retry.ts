/** A server, its Docker or its proxy that is away for some minutes, or was started again under work: what is worth waiting for, in all work on servers. */
import { Fault } from '../../../fault.ts';
import type { Retry } from '../../../operations/definition.ts';

const awayCodes = new Set([
  ...['remote_unreachable', 'remote_timeout', 'port_refused', 'port_filtered', 'name_not_resolved'],
  ...['docker_missing', 'proxy_down', 'work_lost'],
]);

export function isServerUnavailable(error: unknown): boolean {
  return error instanceof Fault && awayCodes.has(error.code);
}

/** Together about ten minutes. What a server refuses, it refuses. */
export const serverRetry: Retry = { attempts: 45, firstMs: 500, maxMs: 15_000, when: isServerUnavailable };
