/**
 * How a sealed stream begins: what it is, what its key is derived with, and by what another key is told from damage.
 * The checksum needs no key, so a header that was altered is known before the key is judged.
 */
import { createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Fault } from '../../fault.ts';

const magic = Buffer.from('SLIPWAYB');
const version = 1;
const saltBytes = 32;
const checkBytes = 16;
const checksumBytes = 16;
const saltAt = magic.length + 1;
const checkAt = saltAt + saltBytes;
const checksumAt = checkAt + checkBytes;
export const headerBytes = checksumAt + checksumBytes;

export interface StreamKey {
  /** Bound into every block. */
  readonly header: Buffer;
  readonly key: Buffer;
  readonly noncePrefix: Buffer;
}

export function newHeader(key: Buffer): StreamKey {
  const salt = randomBytes(saltBytes);
  const { check, ...derived } = derive(key, salt);
  const open = Buffer.concat([magic, Buffer.of(version), salt, check]);
  return { header: Buffer.concat([open, checksumOf(open)]), ...derived };
}

export function readHeader(key: Buffer, header: Buffer): StreamKey {
  if (header.length < headerBytes) throw damaged('it ends within its header');
  const open = header.subarray(0, checksumAt);
  if (!header.subarray(0, magic.length).equals(magic)) throw damaged('it does not begin as one');
  if (!header.subarray(checksumAt).equals(checksumOf(open))) throw damaged('its header was altered');
  if (header[magic.length] !== version)
    throw new Fault('backup_damaged', 'The backup is of a format that this Slipway does not know.', {
      hint: 'It was written by a newer Slipway; read it with that one.',
    });
  const { check, ...derived } = derive(key, header.subarray(saltAt, checkAt));
  if (!timingSafeEqual(check, header.subarray(checkAt, checksumAt)))
    throw new Fault('backup_key_mismatch', 'The backup was encrypted with another key.', {
      hint: 'It belongs to another workspace, or to an instance with another master key.',
    });
  return { header, ...derived };
}

export function damaged(how: string): Fault {
  return new Fault('backup_damaged', `The stored backup is damaged: ${how}.`, {
    hint: 'Use another backup. Nothing of this one can be trusted.',
    evidence: how,
  });
}

/** A key for this stream alone: a counter can then be the nonce, because no two streams share it. */
function derive(key: Buffer, salt: Buffer) {
  if (key.length !== 32) throw new Error('a stream is sealed with a key of 32 bytes');
  const bytes = Buffer.from(hkdfSync('sha256', key, salt, 'slipway backup stream 1', 32 + 7 + checkBytes));
  return { key: bytes.subarray(0, 32), noncePrefix: bytes.subarray(32, 39), check: bytes.subarray(39) };
}

function checksumOf(open: Buffer): Buffer {
  return createHash('sha256').update(open).digest().subarray(0, checksumBytes);
}
