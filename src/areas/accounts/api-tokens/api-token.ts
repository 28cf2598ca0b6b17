/**
 * What an API token looks like: `slw_`, 32 random letters and digits, and a checksum of them, so that whoever looks for
 * leaked secrets knows one from a text that only resembles it, without asking anybody.
 */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const prefix = 'slw_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 32;
const checksumLength = 6;
/** How much of one is shown again. */
const shownLength = prefix.length + 4;

export interface NewApiToken {
  readonly token: string;
  readonly hash: Buffer;
  readonly start: string;
}

/** 190 random bits. */
export function newApiToken(): NewApiToken {
  let body = prefix;
  for (let count = 0; count < randomLength; count += 1) body += alphabet[randomInt(alphabet.length)];
  const token = `${body}${checksumOf(body)}`;
  return { token, hash: hashApiToken(token), start: token.slice(0, shownLength) };
}

/** Whether it was meant to be one: an access token never begins like this. */
export function looksLikeApiToken(text: string): boolean {
  return text.startsWith(prefix);
}

/** Whether it is whole; that there is such a token it does not tell. */
export function isApiToken(text: string): boolean {
  const body = text.slice(0, -checksumLength);
  return /^slw_[0-9A-Za-z]{38}$/.test(text) && text.slice(-checksumLength) === checksumOf(body);
}

export function hashApiToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function checksumOf(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let count = 0; count < checksumLength; count += 1) {
    text = `${alphabet[rest % alphabet.length]}${text}`;
    rest = Math.floor(rest / alphabet.length);
  }
  return text;
}
