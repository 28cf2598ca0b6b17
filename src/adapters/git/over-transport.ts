/** One conversation with a repository elsewhere: the way there is opened, used within its time, and closed. */
import { Fault } from '../../fault.ts';
import type { Source } from './gather.ts';
import type { HostPins } from './host-pins.ts';
import { RemoteGit, RemoteGitFailure } from './remote-git.ts';
import type { Setting } from './run-git.ts';
import { openTransport, type Resolve } from './transport.ts';

export interface Way {
  readonly resolve: Resolve;
  readonly pins: HostPins;
  readonly settings: readonly Setting[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** `limited` ends with the caller's signal or with the time, whichever comes first. */
export async function overTransport<T>(
  { url, credentials }: Source,
  { resolve, pins, settings, timeoutMs, signal }: Way,
  work: (remote: RemoteGit, limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const late = new Fault('deadline_exceeded', `Fetching ${url.text} took longer than ${timeoutMs / 1000} s.`);
  const timer = setTimeout(() => own.abort(late), timeoutMs);
  const limited = AbortSignal.any([signal, own.signal]);
  try {
    const transport = await openTransport(url, credentials, { resolve, pins, signal: limited });
    try {
      const all = [...settings, ...transport.settings];
      return await work(new RemoteGit(url, { ...transport, settings: all }, limited), limited);
    } finally {
      await transport.close();
    }
  } catch (error) {
    throw error instanceof RemoteGitFailure ? error.explained.fault : error;
  } finally {
    clearTimeout(timer);
  }
}
