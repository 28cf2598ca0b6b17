/** One conversation with a repository elsewhere: the transport is opened, used within its time, and closed. */
import { Fault } from '../../../fault.ts';
import type { Setting } from '../run-git.ts';
import { httpTransport } from './http-transport.ts';
import type { KnownHosts } from './known-hosts.ts';
import { RemoteGit, RemoteGitFailure } from './remote-git.ts';
import { sshTransport } from './ssh-transport.ts';
import type { Resolve, Source, Transport } from './transport.ts';

export interface RemoteOptions {
  readonly resolve: Resolve;
  readonly knownHosts: KnownHosts;
  readonly settings: readonly Setting[];
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

/** `limited` ends with the caller's signal or with the time, whichever comes first. */
export async function withRemote<T>(
  { url, credentials }: Source,
  { resolve, knownHosts, settings, timeoutMs, memoryBytes, signal }: RemoteOptions,
  work: (remote: RemoteGit, limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController();
  const late = new Fault('deadline_exceeded', `Fetching ${url.text} took longer than ${timeoutMs / 1000} s.`);
  const timer = setTimeout(() => own.abort(late), timeoutMs);
  const limited = AbortSignal.any([signal, own.signal]);
  try {
    const transport = await openTransport({ url, credentials }, resolve, knownHosts, limited);
    try {
      const all = [...settings, ...transport.settings];
      const remote = new RemoteGit(url, { ...transport, settings: all }, limited, memoryBytes);
      return await work(remote, limited);
    } finally {
      await transport.close();
    }
  } catch (error) {
    throw error instanceof RemoteGitFailure ? error.explained.fault : error;
  } finally {
    clearTimeout(timer);
  }
}

async function openTransport(
  { url, credentials }: Source,
  resolve: Resolve,
  knownHosts: KnownHosts,
  signal: AbortSignal,
): Promise<Transport> {
  const addresses = await resolve(url.host);
  signal.throwIfAborted();
  if (addresses.length === 0)
    throw new Fault('name_not_resolved', `The name ${url.host} does not resolve to an address.`);
  if (url.scheme === 'ssh') {
    if (credentials && 'privateKey' in credentials)
      return sshTransport(url, credentials, addresses, knownHosts, signal);
    throw new Fault('invalid_input', 'A repository with an ssh address needs a deploy key.', {
      hint: 'Use its https address, or add a deploy key.',
    });
  }
  if (credentials && 'privateKey' in credentials)
    throw new Fault('invalid_input', 'A deploy key works only with an ssh address.');
  return httpTransport(url, credentials, addresses);
}
