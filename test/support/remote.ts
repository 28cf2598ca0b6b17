/** A lab's server through `src/remote`: its target, its pin, a pool that is closed with the test. */
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { serverResolver } from '../../src/adapters/egress/server-networks.ts';
import { Fault, type FaultCode } from '../../src/fault.ts';
import { newId, type ServerId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { generateKeyPair } from '../../src/remote/keys/keys.ts';
import { createRemotePool } from '../../src/remote/pool.ts';
import type { HostKeyFingerprint, Remote, RemotePool, RemoteTarget } from '../../src/remote/remote.ts';
import { fingerprintOf } from '../../src/remote/ssh/host-keys.ts';
import { Secret } from '../../src/secret.ts';
import type { TestLab, TestServer } from './lab.ts';

/** The lab's servers stand in a private network, and some that tests make up on loopback. */
export const labHosts = serverResolver({ allowPrivate: true, networks: ['127.0.0.1'] });

/** For `assert.rejects`: the code, and something that its sentence or its evidence says. */
export const failsWith =
  (code: FaultCode, says = /(?:)/) =>
  (error: unknown): boolean =>
    error instanceof Fault && error.code === code && says.test(`${error.message} ${error.evidence}`);

/** Of the server's key of that type, as the lab knows it. */
export function pinOf({ about }: TestServer, type = 'ssh-ed25519'): HostKeyFingerprint {
  const shown = about.hostKeys.find((each) => each.startsWith(type)) ?? '';
  return fingerprintOf(Buffer.from(shown.split(' ')[1] ?? '', 'base64'));
}

/** With the lab's key where the server takes it, and with one that nobody knows otherwise. */
export function targetOf(server: TestServer, changes: Partial<RemoteTarget> = {}): RemoteTarget {
  const { address: host, port, user: username, keyFile } = server.about;
  const privateKey = keyFile ? new Secret(readFileSync(keyFile, 'utf8')) : generateKeyPair('none').privateKey;
  const target = { host, port, username, privateKey, hostKey: pinOf(server) };
  return { serverId: newId<ServerId>(), ...target, ...changes };
}

export function openPool(t: TestContext): RemotePool {
  const pool = createRemotePool(labHosts, createLog('silent'));
  t.after(() => pool.close());
  return pool;
}

/** Over a connection of its own. */
export function connect(t: TestContext, server: TestServer, changes: Partial<RemoteTarget> = {}): Remote {
  return openPool(t).to(targetOf(server, changes));
}

/** Lets the user of a server in with a key, and through sudo without a password. */
export async function letIn(lab: TestLab, { about }: TestServer): Promise<{ privateKey: Secret }> {
  const { privateKey, publicKey } = generateKeyPair('test');
  const script = `install -d -o "$1" -g "$1" -m 700 "/home/$1/.ssh"
    echo "$2" > "/home/$1/.ssh/authorized_keys"
    echo "$1 ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/test
    chmod 440 /etc/sudoers.d/test`;
  const argv = ['sh', '-euc', script, 'sh', about.user, publicKey];
  const { code, stderr } = await lab.client.console(about.name, ...argv);
  if (code !== 0) throw new Error(`the user was not let in: ${stderr}`);
  return { privateKey };
}
