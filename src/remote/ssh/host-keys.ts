/** Host keys as OpenSSH shows them. */
import { createHash } from 'node:crypto';
import type { HostKeyFingerprint } from '../remote.ts';

/** Of the key as it goes over the wire, or as `known_hosts` has it in base64. */
export function fingerprintOf(hostKeyBlob: Buffer): HostKeyFingerprint {
  return `SHA256:${createHash('sha256').update(hostKeyBlob).digest('base64').replace(/=+$/, '')}`;
}

/** `ssh-ed25519`, for example: the first field of the blob. */
export function hostKeyTypeOf(hostKeyBlob: Buffer): string {
  if (hostKeyBlob.length < 4) return 'unknown';
  return hostKeyBlob.subarray(4, 4 + hostKeyBlob.readUInt32BE(0)).toString('latin1');
}
