/** Recovery codes: for when the phone is gone. Each works once, in place of any second factor. */
import { createHash, randomBytes } from 'node:crypto';
import { encodeBase32 } from './totp.ts';

const howMany = 10;
/** 80 bits: nobody finds one from its hash. */
const bytesEach = 10;

export interface NewRecoveryCodes {
  /** Shown once, in groups that people can copy: `k3vx-…`. */
  readonly codes: readonly string[];
  readonly hashes: readonly Buffer[];
}

export function newRecoveryCodes(): NewRecoveryCodes {
  const codes = Array.from({ length: howMany }, () => {
    const text = encodeBase32(randomBytes(bytesEach)).toLowerCase();
    return text.replace(/(.{4})(?=.)/g, '$1-');
  });
  return { codes, hashes: codes.map(hashRecoveryCode) };
}

/** However it was typed. */
export function hashRecoveryCode(code: string): Buffer {
  return createHash('sha256').update(code.toLowerCase().replace(/[\s-]/g, '')).digest();
}
