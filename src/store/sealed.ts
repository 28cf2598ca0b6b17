/**
 * Sealed values: secrets at rest. AES-256-GCM with a key of the workspace or account, itself wrapped by the master key.
 * Owner, table, row and column are bound in, so that a sealed value opens only there. What does
 * not open is an error, never an empty value.
 *
 * A sealed column is of type bytea, its name ends in `_sealed`, and its table has `id` and `workspace_id`, or `account_id`
 * where there is no such: that is how rotation finds them all.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { Fault } from '../fault.ts';
import { type AccountId, type DataKeyId, newId, type WorkspaceId } from '../ids.ts';
import { Secret } from '../secret.ts';
import type { Queryable } from './database.ts';
import type { MasterKeys } from './master-keys.ts';
import { fragment, sql } from './sql.ts';

/** Whose a sealed value is. */
export type SealOwner = { readonly workspaceId: WorkspaceId } | { readonly accountId: AccountId };

export type SealContext = SealOwner & {
  readonly table: string;
  readonly row: string;
  readonly column: `${string}_sealed`;
};

interface DataKeyRow {
  readonly id: DataKeyId;
  /** Of the workspace or account. */
  readonly ownerId: string;
  readonly masterKeyId: string;
  readonly wrapped: Buffer;
}

const dataKeyColumns = fragment`id, coalesce(workspace_id, account_id) as "ownerId", master_key_id as "masterKeyId", wrapped`;

const format = 1;
const ivLength = 12;
const tagLength = 16;
const keyIdLength = 16;

export class Sealer {
  readonly #masterKeys: MasterKeys;
  readonly #clock: Clock;
  readonly #opened = new Map<DataKeyId, Buffer>();

  constructor(masterKeys: MasterKeys, clock: Clock = systemClock) {
    this.#masterKeys = masterKeys;
    this.#clock = clock;
  }

  async seal(db: Queryable, context: SealContext, value: Secret): Promise<Buffer> {
    const { id, key } = await this.#currentKey(db, context);
    const head = Buffer.concat([Buffer.of(format), Buffer.from(id.replaceAll('-', ''), 'hex')]);
    return Buffer.concat([head, encrypt(key, contextBytes(context), Buffer.from(value.reveal(), 'utf8'))]);
  }

  async open(db: Queryable, context: SealContext, sealed: Buffer): Promise<Secret> {
    if (sealed[0] !== format || sealed.length < 1 + keyIdLength + ivLength + tagLength)
      throw unreadable(context);
    const id = uuidOf(sealed.subarray(1, 1 + keyIdLength));
    const key = this.#opened.get(id) ?? (await this.#fetchKey(db, context, id));
    try {
      return new Secret(
        decrypt(key, contextBytes(context), sealed.subarray(1 + keyIdLength)).toString('utf8'),
      );
    } catch (cause) {
      throw unreadable(context, cause);
    }
  }

  /** A new key for the workspace or account; the one before opens what it sealed until it is removed. */
  async newKey(db: Queryable, owner: SealOwner): Promise<void> {
    const { workspaceId, accountId } = idsOf(owner);
    await db.run(sql`
      update data_keys set retired_at = ${this.#clock.now()}
      where (workspace_id = ${workspaceId} or account_id = ${accountId}) and retired_at is null`);
    await this.#insertKey(db, owner);
  }

  async #currentKey(db: Queryable, owner: SealOwner): Promise<{ id: DataKeyId; key: Buffer }> {
    const row = (await currentKeyRow(db, owner)) ?? (await this.#insertKey(db, owner));
    return { id: row.id, key: this.#unwrap(row) };
  }

  async #insertKey(db: Queryable, owner: SealOwner): Promise<DataKeyRow> {
    const id = newId<DataKeyId>();
    const { workspaceId, accountId } = idsOf(owner);
    const master = this.#masterKeys.current;
    const wrapped = encrypt(master.key.reveal(), wrapBytes(ownerIdOf(owner), id), randomBytes(32));
    // Somebody else may have made one meanwhile, for either kind of owner.
    await db.run(sql`
      insert into data_keys (workspace_id, account_id, id, master_key_id, wrapped, created_at)
      values (${workspaceId}, ${accountId}, ${id}, ${master.id}, ${wrapped}, ${this.#clock.now()})
      on conflict do nothing`);
    const row = await currentKeyRow(db, owner);
    if (!row) throw new Error('a data key was inserted and is not there');
    return row;
  }

  async #fetchKey(db: Queryable, context: SealContext, id: DataKeyId): Promise<Buffer> {
    const row = await db.one<DataKeyRow>(sql`select ${dataKeyColumns} from data_keys where id = ${id}`);
    if (row?.ownerId !== ownerIdOf(context)) throw unreadable(context);
    return this.#unwrap(row);
  }

  #unwrap(row: DataKeyRow): Buffer {
    const known = this.#opened.get(row.id);
    if (known) return known;
    const master = this.#masterKeys.find(row.masterKeyId);
    if (!master) {
      const message = `A data key is wrapped with the master key ${row.masterKeyId}, which is not among ours.`;
      throw new Fault('wrong_master_key', `${message} Add it to SLIPWAY_MASTER_KEY.`);
    }
    try {
      const key = decrypt(master.key.reveal(), wrapBytes(row.ownerId, row.id), row.wrapped);
      this.#opened.set(row.id, key);
      return key;
    } catch (cause) {
      throw new Fault('wrong_master_key', 'A data key does not open: it was altered.', { cause });
    }
  }
}

/**
 * Held until the transaction ends: a rotation waits for what was sealed with it to be stored, or it would remove the key
 * of a value that it has not seen.
 */
function currentKeyRow(db: Queryable, owner: SealOwner): Promise<DataKeyRow | undefined> {
  const { workspaceId, accountId } = idsOf(owner);
  return db.one<DataKeyRow>(sql`
    select ${dataKeyColumns} from data_keys
    where (workspace_id = ${workspaceId} or account_id = ${accountId}) and retired_at is null for share`);
}

/** By column: a null finds nothing. */
function idsOf(owner: SealOwner): { workspaceId: WorkspaceId | null; accountId: AccountId | null } {
  return 'workspaceId' in owner
    ? { workspaceId: owner.workspaceId, accountId: null }
    : { workspaceId: null, accountId: owner.accountId };
}

function ownerIdOf(owner: SealOwner): string {
  return 'workspaceId' in owner ? owner.workspaceId : owner.accountId;
}

function encrypt(key: Buffer, bound: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(ivLength);
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength }).setAAD(bound);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, bound: Buffer, sealed: Buffer): Buffer {
  const iv = sealed.subarray(0, ivLength);
  const body = sealed.subarray(ivLength, -tagLength);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagLength });
  decipher.setAAD(bound).setAuthTag(sealed.subarray(-tagLength));
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

function contextBytes(context: SealContext): Buffer {
  return bytesOf('value', ownerIdOf(context), context.table, context.row, context.column);
}

function wrapBytes(ownerId: string, id: DataKeyId): Buffer {
  return bytesOf('data key', ownerId, id);
}

// JSON keeps the parts apart: no two lists of texts give the same bytes.
function bytesOf(...parts: string[]): Buffer {
  return Buffer.from(JSON.stringify(['slipway', format, ...parts]), 'utf8');
}

function uuidOf(bytes: Buffer): DataKeyId {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') as DataKeyId;
}

function unreadable(context: SealContext, cause?: unknown): Fault {
  const message = `A sealed value cannot be opened (${context.table}.${context.column}, row ${context.row}).`;
  return new Fault('sealed_value_unreadable', message, {
    hint: 'It was sealed with another key, moved from elsewhere, or altered.',
    cause,
  });
}
