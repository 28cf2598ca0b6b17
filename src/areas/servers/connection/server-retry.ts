/** Transient failures of a server, its Docker or its proxy, also of one that restarted meanwhile: retried in all work on servers. */
import { Fault } from '../../../fault.ts';
import type { Retry } from '../../../operations/definition.ts';

const transientCodes = new Set([
  ...['remote_unreachable', 'remote_timeout', 'port_refused', 'port_filtered', 'name_not_resolved'],
  ...['docker_missing', 'proxy_down', 'work_lost'],
]);

export function isServerUnavailable(error: unknown): boolean {
  return error instanceof Fault && transientCodes.has(error.code);
}

/** A server that does not answer, or a cluster of which nobody can change anything: its managers may be choosing a leader. */
export function isPlaceUnavailable(error: unknown): boolean {
  return isServerUnavailable(error) || (error instanceof Fault && error.code === 'cluster_no_quorum');
}

/** Together about ten minutes. A refusal is not retried. */
export const serverRetry: Retry = { attempts: 45, firstMs: 500, maxMs: 15_000, when: isPlaceUnavailable };
