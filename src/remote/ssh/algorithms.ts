/**
 * The algorithms that we accept. None with SHA-1, CBC or DSA: a server that has only those is refused. The order is fixed,
 * so a server with the same keys always shows the same one. AES-GCM stands before ChaCha20 because Node does it in
 * native code; both are sound.
 */
import type { Algorithms, ServerHostKeyAlgorithm } from 'ssh2';

export const hostKeyFamilies: readonly (readonly ServerHostKeyAlgorithm[])[] = [
  ['ssh-ed25519'],
  ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'],
  ['rsa-sha2-512', 'rsa-sha2-256'],
];

export function algorithmsWith(hostKeys: readonly ServerHostKeyAlgorithm[]): Algorithms {
  return {
    kex: [
      'curve25519-sha256',
      'curve25519-sha256@libssh.org',
      'ecdh-sha2-nistp256',
      'ecdh-sha2-nistp384',
      'ecdh-sha2-nistp521',
      'diffie-hellman-group16-sha512',
      'diffie-hellman-group18-sha512',
      'diffie-hellman-group-exchange-sha256',
    ],
    cipher: [
      'aes128-gcm@openssh.com',
      'aes256-gcm@openssh.com',
      'chacha20-poly1305@openssh.com',
      'aes128-ctr',
      'aes192-ctr',
      'aes256-ctr',
    ],
    hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com'],
    serverHostKey: [...hostKeys],
    compress: ['none'],
  };
}
