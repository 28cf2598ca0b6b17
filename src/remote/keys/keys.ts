/**
 * Private keys: made, and read in whatever format people have them. What comes out is always without a passphrase, in a
 * form that our SSH takes, and strong enough to use.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import ssh2 from 'ssh2';
import { Fault } from '../../fault.ts';
import { Secret } from '../../secret.ts';
import { type DecryptedKey, decryptKey } from './encrypted-key.ts';
import { mayDecrypt, opensshPrivateKey } from './key-formats.ts';

export interface KeyPair {
  readonly privateKey: Secret;
  /** One line, as in `authorized_keys`. */
  readonly publicKey: string;
}

export interface GivenKey extends KeyPair {
  /** `ssh-ed25519`, `ssh-rsa` or `ecdsa-sha2-nistp…`. */
  readonly type: string;
}

const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const minRsaBits = 2048;

export function generateKeyPair(comment: string): KeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { publicKey, privateKey: text } = toKeyPair(privateKey, comment);
  return { privateKey: text, publicKey };
}

/** OpenSSH's own format, PEM (also encrypted), PKCS#8 and PuTTY's. */
export async function readPrivateKey(given: string, passphrase?: string): Promise<GivenKey> {
  const text = given.replaceAll('\r\n', '\n').trim();
  const phrase = passphrase || undefined;
  if (/^-----BEGIN OPENSSH PRIVATE KEY-----\n|^PuTTY-User-Key-File-/.test(text)) {
    const { pem, comment } = await readBySsh(text, phrase);
    return toKeyPair(requireStrong(createPrivateKey(pem)), comment);
  }
  if (/^-----BEGIN ([A-Z]+ )?PRIVATE KEY-----\n/.test(text))
    return toKeyPair(requireStrong(parsePem(text, phrase)), '');
  if (/^(ssh-|ecdsa-|sk-)\S+ |^-----BEGIN (SSH2 |RSA )?PUBLIC KEY|^---- BEGIN SSH2 PUBLIC KEY/.test(text)) {
    throw unusable('This is a public key.', 'Give the private one: the file of the same name without .pub.');
  }
  throw unusable(
    'This is not a private key.',
    'It begins with a line like -----BEGIN OPENSSH PRIVATE KEY-----.',
  );
}

async function readBySsh(text: string, phrase: string | undefined): Promise<DecryptedKey> {
  const plain = ssh2.utils.parseKey(text);
  if (!(plain instanceof Error)) return { pem: plain.getPrivatePEM(), comment: plain.comment };
  if (!/no passphrase given/.test(plain.message)) throw unreadableFault(plain.message);
  if (phrase === undefined) throw passphraseMissing();
  const opened = await decryptKey(text, phrase);
  if (!('why' in opened)) return opened;
  if (opened.why === 'slow') {
    throw unusable(
      'The passphrase protects this key with more rounds than can be worked off here.',
      'Write it anew with fewer: ssh-keygen -p -a 24 -f <file>',
    );
  }
  // Only ciphers that authenticate can tell a wrong passphrase from a damaged file; the first is far likelier.
  throw /Unsupported/.test(opened.why) ? unreadableFault(opened.why) : passphraseWrong();
}

function parsePem(text: string, phrase: string | undefined): KeyObject {
  const isPkcs8 = /^-----BEGIN ENCRYPTED/.test(text);
  const isEncrypted = isPkcs8 || /\nDEK-Info:/.test(text);
  if (isEncrypted && phrase === undefined) throw passphraseMissing();
  if (isPkcs8 && !mayDecrypt(text)) {
    throw unusable(
      'The passphrase protects this key in a way that is not supported.',
      'Write it anew with: ssh-keygen -p -f <file>',
    );
  }
  try {
    return createPrivateKey({ key: text, ...(phrase !== undefined && { passphrase: phrase }) });
  } catch {
    // OpenSSL's own messages for these are of no use to anyone.
    throw isEncrypted ? passphraseWrong() : unreadableFault('');
  }
}

function requireStrong(key: KeyObject): KeyObject {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const advice = 'Make a new one with: ssh-keygen -t ed25519';
  if (type === 'ed25519') return key;
  if (type === 'ec' && curves.includes(details?.namedCurve)) return key;
  if (type === 'dsa') throw unusable('DSA keys are no longer safe, and servers refuse them.', advice);
  if (type !== 'rsa') throw unusable('Keys of this type are not supported.', advice);
  const bits = details?.modulusLength ?? 0;
  if (bits >= minRsaBits) return key;
  throw unusable(`An RSA key of ${bits} bits is too short; at least ${minRsaBits} are needed.`, advice);
}

function toKeyPair(key: KeyObject, comment: string): GivenKey {
  const note = comment.replaceAll(/[^\x21-\x7e]+/g, ' ').trim();
  const text =
    key.asymmetricKeyType === 'ed25519'
      ? opensshPrivateKey(key, note)
      : String(key.export({ format: 'pem', type: key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1' }));
  const parsed = ssh2.utils.parseKey(text);
  if (parsed instanceof Error) throw parsed;
  const publicKey = [parsed.type, parsed.getPublicSSH().toString('base64'), note].join(' ').trim();
  return { privateKey: new Secret(text), publicKey, type: parsed.type };
}

function unreadableFault(message: string): Fault {
  const type = /Unsupported OpenSSH private key type: (\S+)/.exec(message)?.[1];
  if (type?.startsWith('sk-')) {
    return unusable(
      'This key lives in a hardware token, which has to be touched for every login.',
      'Give a key of its own.',
    );
  }
  if (type)
    return unusable(`Keys of type ${type} are not supported.`, 'Make a new one with: ssh-keygen -t ed25519');
  return unusable(
    'The private key is damaged or incomplete.',
    'Give the whole file, with its first and last line.',
  );
}

function passphraseMissing(): Fault {
  return unusable('The private key is protected by a passphrase.', 'Give the passphrase along with it.');
}

function passphraseWrong(): Fault {
  return unusable('The passphrase does not open the private key.', 'Check the passphrase.');
}

function unusable(sentence: string, hint: string): Fault {
  return new Fault('invalid_input', sentence, { hint });
}
