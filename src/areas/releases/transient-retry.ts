/** What is worth waiting for in work that needs more than its server: a Git host, too, and a build under which Docker ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../../fault.ts';
import type { Retry } from '../../operations/definition.ts';
import { isPlaceUnavailable, serverRetry } from '../servers/connection/server-retry.ts';

const transientCodes = new Set([
  ...['git_failed', 'provider_unreachable', 'provider_failed', 'egress_failed', 'build_lost'],
]);

export function isTransient(error: unknown): boolean {
  return isPlaceUnavailable(error) || (error instanceof Fault && transientCodes.has(error.code));
}

export const transientRetry: Retry = { ...serverRetry, when: isTransient };

/** For undoing: a server that is away is waited for, up to the step's deadline. What it refuses, it refuses. */
export async function retryUntilDone(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let pauseMs = transientRetry.firstMs; ; pauseMs = Math.min(pauseMs * 2, transientRetry.maxMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
}

const insistMs = [1_000, 2_000, 4_000, 8_000];

/**
 * For what is left for ever where it is not done now. A Docker that is being started again refuses for a moment what it does a
 * little later, in words that do not tell it from other refusals; so a refusal counts after the fifth.
 */
export async function insist<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of insistMs) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Fault) || isTransient(error)) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
  return work();
}
