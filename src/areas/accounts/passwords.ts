/** Passwords: how they are judged, kept and checked. Argon2id, at most one a core at a time. */
import { type Argon2Parameters, argon2, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { Fault } from '../../fault.ts';
import type { MasterKeys } from '../../store/master-keys.ts';

export const passwordLength = { least: 10, most: 128 } as const;

// 19 MiB and two passes: the least that is advised today, and what two cores can take under a burst of sign-ins.
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 } as const;
const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await inSlot(() => derive('argon2id', { ...cost, nonce, message: prepared(password) }));
  const params = `m=${cost.memory},t=${cost.passes},p=${cost.parallelism}`;
  return `$argon2id$v=19$${params}$${unpadded(nonce)}$${unpadded(tag)}`;
}

/**
 * Whether the password is the hashed one. Where there is no hash it does the same work against none, so that
 * the time taken says nothing.
 */
export async function checkPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const kept = parseHash(hash ?? (await placeholder()));
  const tag = await inSlot(() => derive('argon2id', { ...kept.parameters, message: prepared(password) }));
  return timingSafeEqual(tag, kept.tag) && typeof hash === 'string';
}

let placeholderHash: Promise<string> | undefined;
function placeholder(): Promise<string> {
  placeholderHash ??= hashPassword(randomBytes(16).toString('hex'));
  return placeholderHash;
}

/** Made ahead, so that the first sign-in of an unknown address takes no longer than any other. */
export async function preparePasswords(): Promise<void> {
  await placeholder();
}

export async function refuseCommonPassword(password: string): Promise<void> {
  const common = await commonPasswords();
  if (!common.has(password.normalize('NFKC').toLowerCase())) return;
  const message = 'is among the most common passwords; choose another one';
  throw new Fault('invalid_input', `The password ${message}.`, { errors: [{ path: 'password', message }] });
}

let commonSet: Promise<Set<string>> | undefined;
function commonPasswords(): Promise<Set<string>> {
  commonSet ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const long = dictionary['passwords-common']
      .map(String)
      .filter((each) => each.length >= passwordLength.least);
    return new Set([...long, ...repeated(), ...keyboardRows]);
  });
  return commonSet;
}

// What people make of a short favourite when ten characters are asked for.
function repeated(): string[] {
  const singles = [...'abcdefghijklmnopqrstuvwxyz0123456789'].flatMap((each) =>
    Array.from({ length: 11 }, (_, extra) => each.repeat(passwordLength.least + extra)),
  );
  const doubles = ['password', 'qwerty', 'letmein', 'welcome', 'iloveyou', 'admin', 'slipway'].flatMap(
    (word) => [
      word + word,
      `${word}123`,
      `${word}1234`,
      `${word}12345`,
      `${word}123456`,
      `${word}123456789`,
      `${word}1234567890`,
    ],
  );
  return [...singles, ...doubles];
}

const keyboardRows = [
  '1234567890',
  '0123456789',
  '0987654321',
  '12345678910',
  '123456789012',
  'qwertyuiop',
  'asdfghjkl;',
  'abcdefghij',
  'abcdefghijk',
  '1q2w3e4r5t',
  '1qaz2wsx3edc',
  'qazwsxedcrfv',
];

/** A few bits that differ for different passwords: tells two of them apart, and helps to guess neither. */
export function passwordTag(keys: MasterKeys, email: string, password: string): number {
  const mac = createHmac('sha256', keys.derive('password-tag'));
  return mac
    .update(JSON.stringify([email, password.normalize('NFKC')]))
    .digest()
    .readUInt16BE(0);
}

function prepared(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'), 'utf8');
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function parseHash(hash: string): { parameters: Omit<Argon2Parameters, 'message'>; tag: Buffer } {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(hash);
  if (!match?.[4] || !match[5]) throw new Error('a password hash in the database is not one of ours');
  const tag = Buffer.from(match[5], 'base64');
  const [memory, passes, parallelism] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return {
    parameters: {
      memory,
      passes,
      parallelism,
      tagLength: tag.length,
      nonce: Buffer.from(match[4], 'base64'),
    },
    tag,
  };
}

const slots = availableParallelism();
const waiting: (() => void)[] = [];
let busy = 0;

/** Hashing is all memory and processor: more at once than there are cores makes each slower, and none faster. */
async function inSlot<T>(work: () => Promise<T>): Promise<T> {
  if (busy >= slots) await new Promise<void>((resolve) => waiting.push(resolve));
  else busy += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else busy -= 1;
  }
}
