/**
 * Hands the SSH library's AES-GCM ciphers their keys as key objects. The library keeps them as bytes and makes a new
 * cipher for every packet; of bytes, Node finds out each time by errors thrown inside of it that they are no key object,
 * and that takes as long as encrypting the packet does. The object holds the same bytes: what is sent is the same.
 *
 * It reaches into private fields of a library whose version is pinned. Where they are not what they were, nothing is
 * touched: everything works on, slower, and the test beside this file says so.
 */
import { createSecretKey } from 'node:crypto';
import type { Client } from 'ssh2';

/** From now on, and again after every change of keys. */
export function useKeyObjects(client: Client): void {
  client.on('handshake', () => void exchangeKeys(client));
}

/** Whether both directions had bytes, and have key objects now. */
export function exchangeKeys(client: Client): boolean {
  const protocol = fieldOf(client, '_protocol');
  const sending = exchange(fieldOf(protocol, '_cipher'), '_encKey');
  const receiving = exchange(fieldOf(protocol, '_decipher'), '_decipherKey');
  return sending && receiving;
}

function exchange(cipher: unknown, field: string): boolean {
  const key = fieldOf(cipher, field);
  if (typeof cipher !== 'object' || cipher === null || !Buffer.isBuffer(key)) return false;
  return Reflect.set(cipher, field, createSecretKey(key));
}

function fieldOf(owner: unknown, name: string): unknown {
  return typeof owner === 'object' && owner !== null ? Reflect.get(owner, name) : undefined;
}
