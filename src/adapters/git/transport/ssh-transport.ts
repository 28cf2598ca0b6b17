/**
 * Git over ssh, with the SSH in our own process: the key stays in its memory, the host key is checked against the pin
 * before a user name is sent, and the connection goes to an address that the guarded resolution gave.
 */
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ClientChannel } from 'ssh2';
import { errorText, Fault } from '../../../fault.ts';
import { quoteArgv } from '../../../remote/exec/quote.ts';
import { connectWith } from '../../../remote/ssh/connect.ts';
import type { Connection } from '../../../remote/ssh/connection.ts';
import type { GitUrl } from '../git-url.ts';
import type { KnownHosts } from './known-hosts.ts';
import type { Address, DeployKey, Transport } from './transport.ts';

/**
 * Constant; git's own arguments follow and are of no use, for we know where to go. Git's limit of memory is not for the
 * bridge: Node sets much more aside than it uses.
 */
const command = 'ulimit -S -v unlimited 2>/dev/null || :; exec "$SLIPWAY_NODE" "$SLIPWAY_BRIDGE"';
const mostSaid = 4_000;

export async function sshTransport(
  url: GitUrl,
  key: DeployKey,
  addresses: readonly Address[],
  knownHosts: KnownHosts,
  signal: AbortSignal,
): Promise<Transport> {
  const connection = await connectPinned(url, key, addresses, knownHosts, signal);
  let said = '';
  return {
    settings: [],
    env: {
      GIT_ALLOW_PROTOCOL: 'ssh',
      GIT_SSH_COMMAND: command,
      GIT_SSH_VARIANT: 'ssh',
      SLIPWAY_NODE: process.execPath,
      SLIPWAY_BRIDGE: fileURLToPath(new URL('./stdio-bridge.ts', import.meta.url)),
    },
    withChannel: true,
    attach(git) {
      // As git itself writes it; hosts look for exactly this.
      const line = `git-upload-pack ${quoteArgv([url.path])}`;
      const join = (channel: ClientChannel) => {
        channel.stderr.on('data', (text: Buffer) => {
          said = (said + text.toString()).slice(-mostSaid);
        });
        joinBoth(channel, git);
      };
      connection.exec(line, join).catch((error: unknown) => {
        said += errorText(error);
        git.destroy();
      });
    },
    said: () => said,
    secrets: [key.privateKey],
    close: () => connection.close(),
  };
}

function joinBoth(channel: ClientChannel, git: Duplex): void {
  channel.on('error', () => git.destroy());
  git.once('close', () => channel.destroy());
  git.pipe(channel);
  channel.pipe(git);
}

async function connectPinned(
  url: GitUrl,
  key: DeployKey,
  addresses: readonly Address[],
  knownHosts: KnownHosts,
  signal: AbortSignal,
): Promise<Connection> {
  const expectedHostKey = knownHosts.find(url.host, url.port);
  let failure: unknown;
  for (const { address } of addresses) {
    try {
      const connection = await connectWith({
        host: address,
        port: url.port,
        resolve: async () => [address],
        username: url.user ?? 'git',
        auth: { privateKey: key.privateKey },
        signal,
        ...(expectedHostKey === undefined ? {} : { expectedHostKey }),
      });
      if (expectedHostKey === undefined) knownHosts.add(url.host, url.port, connection.hostKey.fingerprint);
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Fault && error.code === 'login_refused') throw inWords(url, error);
      failure = error;
    }
  }
  throw failure instanceof Fault ? inWords(url, failure) : failure;
}

/** The faults of SSH speak of servers and by address; here it is a Git host, known by name. */
function inWords({ host, port }: GitUrl, fault: Fault): Fault {
  const more = { cause: fault, ...(fault.evidence === undefined ? {} : { evidence: fault.evidence }) };
  if (fault.code === 'login_refused') {
    return new Fault('provider_rejected', `${host} refuses the deploy key.`, {
      hint: 'Add the public key to the repository at the provider.',
      ...more,
    });
  }
  if (fault.code === 'host_key_changed') {
    return new Fault('host_key_changed', `${host} shows another host key than the one that is known.`, {
      hint: 'Compare it with the keys that the provider publishes. If it is right, have the old one forgotten.',
      ...more,
    });
  }
  if (fault.code === 'port_refused' || fault.code === 'port_filtered') {
    return new Fault('provider_unreachable', `${host} does not take connections on port ${port}.`, more);
  }
  return new Fault('provider_unreachable', `No SSH connection to ${host} comes about.`, more);
}
