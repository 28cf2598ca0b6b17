/** The way to a repository for one run of git: where it connects to, and how it proves who it is. */
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { Secret } from '../../secret.ts';
import { answerCredentials, checkLogin, credentialSettings, type Login } from './credential-channel.ts';
import type { GitUrl } from './git-url.ts';
import type { HostPins } from './host-pins.ts';
import type { Setting } from './run-git.ts';
import { type DeployKey, sshTransport } from './ssh-transport.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Guarded: throws for a name that leads where we do not connect to. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

export type Credentials = Login | DeployKey;

export interface Transport {
  readonly settings: readonly Setting[];
  readonly env: Readonly<Record<string, string>>;
  readonly withChannel: boolean;
  attach(channel: Duplex): void;
  /** What the other side said outside of git's own lines. */
  said(): string;
  readonly secrets: readonly Secret[];
  close(): Promise<void>;
}

export async function openTransport(
  url: GitUrl,
  credentials: Credentials | undefined,
  { resolve, pins, signal }: { resolve: Resolve; pins: HostPins; signal: AbortSignal },
): Promise<Transport> {
  const addresses = await resolve(url.host);
  signal.throwIfAborted();
  if (addresses.length === 0)
    throw new Fault('name_not_resolved', `The name ${url.host} does not resolve to an address.`);
  if (url.scheme === 'ssh') {
    if (credentials && 'privateKey' in credentials)
      return sshTransport(url, credentials, addresses, pins, signal);
    throw new Fault('invalid_input', 'A repository with an ssh address needs a deploy key.', {
      hint: 'Use its https address, or add a deploy key.',
    });
  }
  if (credentials && 'privateKey' in credentials)
    throw new Fault('invalid_input', 'A deploy key works only with an ssh address.');
  return httpTransport(url, credentials, addresses);
}

function httpTransport(url: GitUrl, login: Login | undefined, addresses: readonly Address[]): Transport {
  if (login) checkLogin(login);
  const list = addresses.map(({ address }) => (isIP(address) === 6 ? `[${address}]` : address)).join(',');
  // The name is not asked for a second time: what was checked is what is connected to.
  const pinned: Setting[] =
    isIP(url.host) === 0 ? [['http.curloptResolve', `${url.host}:${url.port}:${list}`]] : [];
  return {
    settings: [...pinned, ...(login ? credentialSettings : [])],
    env: { GIT_ALLOW_PROTOCOL: url.scheme },
    withChannel: login !== undefined,
    attach: (channel) => {
      if (login) answerCredentials(channel, url, login);
    },
    said: () => '',
    secrets: login ? [login.password] : [],
    close: async () => undefined,
  };
}
