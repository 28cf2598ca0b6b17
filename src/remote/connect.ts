/**
 * One SSH connection: made to exactly the host key that was pinned, with algorithms that are pinned too, or not at all.
 * No user name, key or password leaves before the host key was checked and its signature verified.
 */
import { Client, type ServerHostKeyAlgorithm } from 'ssh2';
import { Fault } from '../fault.ts';
import type { Secret } from '../secret.ts';
import { algorithmsWith, hostKeyFamilies } from './algorithms.ts';
import { type Auth, authSteps } from './auth-steps.ts';
import { whyRefused } from './connect-faults.ts';
import { Connection, type HostKey } from './connection.ts';
import { fingerprintOf, keyTypeOf } from './host-keys.ts';
import { useKeyObjects } from './key-objects.ts';
import { dial, type Place } from './reach.ts';
import type { HostKeyFingerprint } from './remote.ts';

const connectLimitMs = 15_000;
/** Two probes may stay unanswered; with the third due, after 30 s, the connection is given up. */
const keepalive = { keepaliveInterval: 10_000, keepaliveCountMax: 2 };

export interface ConnectWish extends Place {
  readonly username: string;
  readonly auth: { readonly privateKey: Secret } | { readonly password: Secret };
  /** Where it is left out, any key is taken: for the first contact only, and the caller pins what it gets. */
  readonly expectedHostKey?: HostKeyFingerprint;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export async function connectWith(wish: ConnectWish): Promise<Connection> {
  const deadline = Date.now() + (wish.timeoutMs ?? connectLimitMs);
  try {
    return await attempt(wish, hostKeyFamilies.flat(), deadline);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'host_key_changed') throw error;
    return await withAnotherType(wish, error, deadline);
  }
}

/**
 * A server has a key of each type and shows the first that we like. The pin may be of another one, given by a person or
 * made before the server got its newer key; it counts as long as the server still proves that it holds that key.
 */
async function withAnotherType(wish: ConnectWish, changed: Fault, deadline: number): Promise<Connection> {
  const [, ...others] = hostKeyFamilies;
  for (const family of others) {
    try {
      return await attempt(wish, family, deadline);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // Without a key of this type, with another one, or broken off by whoever does not want to be found out: the
      // first finding stands.
      const isNoNews = ['host_key_changed', 'ssh_algorithms_weak', 'remote_unreachable'].includes(error.code);
      if (!isNoNews) throw error;
    }
  }
  throw changed;
}

/** The key that the server shows and proves, without logging in. */
export async function readHostKey(
  place: Place & { readonly timeoutMs?: number; readonly signal?: AbortSignal },
): Promise<HostKey> {
  const deadline = Date.now() + (place.timeoutMs ?? connectLimitMs);
  const { hostKey, client } = await handshake(place, hostKeyFamilies.flat(), deadline, {
    username: 'nobody',
    until: 'handshake',
  });
  client.destroy();
  return hostKey;
}

async function attempt(
  wish: ConnectWish,
  hostKeys: readonly ServerHostKeyAlgorithm[],
  deadline: number,
): Promise<Connection> {
  const { username, auth, expectedHostKey } = wish;
  const { client, hostKey } = await handshake(wish, hostKeys, deadline, {
    username,
    auth,
    until: 'ready',
    ...(expectedHostKey !== undefined && { expectedHostKey }),
  });
  return new Connection(client, hostKey, username === 'root');
}

interface Course {
  readonly username: string;
  readonly auth?: Auth;
  readonly expectedHostKey?: HostKeyFingerprint;
  readonly until: 'handshake' | 'ready';
}

async function handshake(
  place: Place & { readonly signal?: AbortSignal },
  hostKeys: readonly ServerHostKeyAlgorithm[],
  deadline: number,
  course: Course,
): Promise<{ client: Client; hostKey: HostKey }> {
  const { signal } = place;
  const sock = await dial(place, Math.max(1, deadline - Date.now()), signal);
  const client = new Client();
  let shown: HostKey | undefined;
  const steps = authSteps(course.username, course.auth);
  const { promise, resolve, reject } = Promise.withResolvers<{ client: Client; hostKey: HostKey }>();
  const stop = () => {
    reject(signal?.reason);
    client.destroy();
  };
  const fail = (error?: unknown) => {
    reject(whyRefused({ ...place, ...course }, error, shown, steps.offered()));
    client.destroy();
  };
  signal?.addEventListener('abort', stop, { once: true });
  useKeyObjects(client);
  client.on('error', fail);
  client.once('close', () => fail());
  const done = () => {
    if (shown) resolve({ client, hostKey: shown });
  };
  if (course.until === 'ready') client.once('ready', done);
  else client.once('handshake', done);
  try {
    if (signal?.aborted) stop();
    client.connect({
      sock,
      username: course.username,
      authHandler: steps.next,
      algorithms: algorithmsWith(hostKeys),
      readyTimeout: Math.max(1, deadline - Date.now()),
      ...keepalive,
      hostVerifier: (key: Buffer) => {
        shown = { fingerprint: fingerprintOf(key), type: keyTypeOf(key) };
        return course.expectedHostKey === undefined || course.expectedHostKey === shown.fingerprint;
      },
    });
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    client.removeListener('error', fail);
    // An error without a listener would end the process; from here on the connection looks after them.
    client.on('error', () => undefined);
  }
}
