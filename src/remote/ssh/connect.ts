/**
 * One SSH connection: to exactly the pinned host key, with a fixed list of algorithms, or not at all. No user name, key or
 * password is sent before the host key was checked and its signature verified.
 */
import { Client, type ServerHostKeyAlgorithm } from 'ssh2';
import { Fault } from '../../fault.ts';
import type { Secret } from '../../secret.ts';
import type { HostKeyFingerprint } from '../remote.ts';
import { algorithmsWith, hostKeyFamilies } from './algorithms.ts';
import { authMethods, type SshAuth } from './auth-methods.ts';
import { loginFault } from './connect-faults.ts';
import { Connection, type HostKey } from './connection.ts';
import { fingerprintOf, hostKeyTypeOf } from './host-keys.ts';
import { useKeyObjects } from './key-objects.ts';
import { dial, type Endpoint } from './tcp.ts';

const connectTimeoutMs = 15_000;
/** Two probes may stay unanswered; with the third due, after 30 s, the connection is closed. */
const keepalive = { keepaliveInterval: 10_000, keepaliveCountMax: 2 };

export interface ConnectOptions extends Endpoint {
  readonly username: string;
  readonly auth: { readonly privateKey: Secret } | { readonly password: Secret };
  /** Without it any key is accepted: for trust on first use only, and the caller pins what it gets. */
  readonly expectedHostKey?: HostKeyFingerprint;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export async function connectWith(options: ConnectOptions): Promise<Connection> {
  const deadline = Date.now() + (options.timeoutMs ?? connectTimeoutMs);
  try {
    return await attempt(options, hostKeyFamilies.flat(), deadline);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'host_key_changed') throw error;
    return await connectWithOtherKeyType(options, error, deadline);
  }
}

/**
 * A server has a key of each type and shows the first that we prefer. The pinned one may be of another type, given by a
 * person or from before the server got its newer key; it counts as long as the server still proves that it holds that key.
 */
async function connectWithOtherKeyType(
  options: ConnectOptions,
  changed: Fault,
  deadline: number,
): Promise<Connection> {
  const [, ...others] = hostKeyFamilies;
  for (const family of others) {
    try {
      return await attempt(options, family, deadline);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // No key of this type, another one, or a connection cut by whoever does not want to be found out: the first fault
      // stands.
      const isNoNews = ['host_key_changed', 'ssh_algorithms_weak', 'remote_unreachable'].includes(error.code);
      if (!isNoNews) throw error;
    }
  }
  throw changed;
}

/** The key that the server offers and proves, without logging in. */
export async function readHostKey(
  endpoint: Endpoint & { readonly timeoutMs?: number; readonly signal?: AbortSignal },
): Promise<HostKey> {
  const deadline = Date.now() + (endpoint.timeoutMs ?? connectTimeoutMs);
  const { hostKey, client } = await handshake(endpoint, hostKeyFamilies.flat(), deadline, {
    username: 'nobody',
    until: 'handshake',
  });
  client.destroy();
  return hostKey;
}

async function attempt(
  options: ConnectOptions,
  hostKeys: readonly ServerHostKeyAlgorithm[],
  deadline: number,
): Promise<Connection> {
  const { username, auth, expectedHostKey } = options;
  const { client, hostKey } = await handshake(options, hostKeys, deadline, {
    username,
    auth,
    until: 'ready',
    ...(expectedHostKey !== undefined && { expectedHostKey }),
  });
  return new Connection(client, hostKey, username === 'root');
}

interface Login {
  readonly username: string;
  readonly auth?: SshAuth;
  readonly expectedHostKey?: HostKeyFingerprint;
  readonly until: 'handshake' | 'ready';
}

async function handshake(
  endpoint: Endpoint & { readonly signal?: AbortSignal },
  hostKeys: readonly ServerHostKeyAlgorithm[],
  deadline: number,
  login: Login,
): Promise<{ client: Client; hostKey: HostKey }> {
  const { signal } = endpoint;
  const sock = await dial(endpoint, Math.max(1, deadline - Date.now()), signal);
  const client = new Client();
  let offered: HostKey | undefined;
  const methods = authMethods(login.username, login.auth);
  const { promise, resolve, reject } = Promise.withResolvers<{ client: Client; hostKey: HostKey }>();
  const stop = () => {
    reject(signal?.reason);
    client.destroy();
  };
  const fail = (error?: unknown) => {
    reject(loginFault({ ...endpoint, ...login }, error, offered, methods.offered()));
    client.destroy();
  };
  signal?.addEventListener('abort', stop, { once: true });
  useKeyObjects(client);
  client.on('error', fail);
  client.once('close', () => fail());
  const done = () => {
    if (offered) resolve({ client, hostKey: offered });
  };
  if (login.until === 'ready') client.once('ready', done);
  else client.once('handshake', done);
  try {
    if (signal?.aborted) stop();
    client.connect({
      sock,
      username: login.username,
      authHandler: methods.next,
      algorithms: algorithmsWith(hostKeys),
      readyTimeout: Math.max(1, deadline - Date.now()),
      ...keepalive,
      hostVerifier: (key: Buffer) => {
        offered = { fingerprint: fingerprintOf(key), type: hostKeyTypeOf(key) };
        return login.expectedHostKey === undefined || login.expectedHostKey === offered.fingerprint;
      },
    });
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    client.removeListener('error', fail);
    // An error without a listener would end the process; from here on the connection handles them.
    client.on('error', () => undefined);
  }
}
