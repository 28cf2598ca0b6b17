/**
 * The master keys: the one that seals now, and older ones that may still open. Owns the key file, and all keys
 * that are derived for other purposes. There is no fallback: without a key nothing starts.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { fromBase64 } from '../base64.ts';
import { Fault } from '../fault.ts';
import { Secret } from '../secret.ts';
import type { Database } from './database.ts';
import { readFileIfExists, writeFileAtomic } from './files.ts';
import { sql } from './sql.ts';

export interface MasterKey {
  /** Identifies the key without revealing anything about it. */
  readonly id: string;
  readonly key: Secret<Buffer>;
}

/** Each purpose has a key of its own, so that a value made for one is worthless for another. */
export type KeyPurpose =
  | 'access-token'
  | 'one-time-code'
  | 'throttle'
  | 'password-tag'
  | 'build-secrets'
  | 'unsubscribe'
  | 'build-cache'
  | 'idempotency'
  | 'user-code';

export class MasterKeys {
  readonly current: MasterKey;
  readonly all: readonly MasterKey[];
  readonly #derived = new Map<string, Buffer>();

  constructor(current: Secret<Buffer>, ...older: Secret<Buffer>[]) {
    this.current = named(current);
    this.all = [this.current, ...older.map(named)];
  }

  find(id: string): MasterKey | undefined {
    return this.all.find((each) => each.id === id);
  }

  derive(purpose: KeyPurpose, from: MasterKey = this.current): Buffer {
    const name = `${from.id}/${purpose}`;
    let key = this.#derived.get(name);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', from.key.reveal(), 'slipway', purpose, 32));
      this.#derived.set(name, key);
    }
    return key;
  }
}

function named(key: Secret<Buffer>): MasterKey {
  const id = createHash('sha256')
    .update('slipway master key\0')
    .update(key.reveal())
    .digest('hex')
    .slice(0, 16);
  return { id, key };
}

/** From the setting, else from the file; where neither exists, made once and kept in the file, mode 0600. */
export function loadMasterKeys(file: string, fromSetting: readonly Secret<Buffer>[] | undefined): MasterKeys {
  const [current, ...older] = fromSetting ?? readKeyFile(file);
  if (current) return new MasterKeys(current, ...older);
  const created = new Secret(randomBytes(32));
  writeKeyFile(file, [created]);
  return new MasterKeys(created);
}

function readKeyFile(file: string): Secret<Buffer>[] {
  const text = readFileIfExists(file);
  if (text === undefined) return [];
  const keys = text
    .trim()
    .split('\n')
    .map((line) => fromBase64(line) ?? Buffer.alloc(0));
  if (keys.every((key) => key.length === 32)) return keys.map((key) => new Secret(key));
  throw new Fault('wrong_master_key', `The master key file ${file} is damaged. Put it back from your copy.`);
}

export function writeKeyFile(file: string, keys: readonly Secret<Buffer>[]): void {
  writeFileAtomic(file, `${keys.map((each) => each.reveal().toString('base64')).join('\n')}\n`, 0o600);
}

/** Refuses a database whose secrets none of our keys can open, before anything is served or sealed anew. */
export async function checkMasterKeys(db: Database, keys: MasterKeys): Promise<void> {
  const ids = keys.all.map((each) => each.id);
  const unknown = await db.one<{ id: string }>(sql`
    select id from master_keys
    where not (id = any(${ids})) and (exists (select 1 from data_keys where master_key_id = master_keys.id)
      or not exists (select 1 from master_keys where id = any(${ids})))
    limit 1`);
  if (unknown) {
    throw new Fault(
      'wrong_master_key',
      `The database was sealed with the master key ${unknown.id}, which is not among ours (${ids.join(', ')}). Set SLIPWAY_MASTER_KEY to that key, or put the data folder's master.key back.`,
    );
  }
  await db.run(sql`insert into master_keys (id) values (${keys.current.id}) on conflict do nothing`);
}
