/**
 * Sealed values: secrets at rest. AES-256-GCM with a key of the workspace, itself wrapped by the master key.
 * Workspace, table, row and column are bound in, so that a sealed value opens only there. What does
 * not open is an error, never an empty value.
 *
 * A sealed column is of type bytea, its name ends in `_sealed`, and its table has `workspace_id` and `id`:
 * that is how rotation finds them all.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../clock.ts';
import { Fault } from '../fault.ts';
import { type DataKeyId, newId, type WorkspaceId } from '../ids.ts';
import { Secret } from '../secret.ts';
import type { Queryable } from './database.ts';
import type { MasterKeys } from './master-keys.ts';
import { fragment, sql } from './sql.ts';

export interface SealContext {
  readonly workspaceId: WorkspaceId;
  readonly table: string;
  readonly row: string;
  readonly column: `${string}_sealed`;
}

interface DataKeyRow {
  readonly id: DataKeyId;
  readonly workspaceId: WorkspaceId;
  readonly masterKeyId: string;
  readonly wrapped: Buffer;
}

const dataKeyColumns = fragment`id, workspace_id as "workspaceId", master_key_id as "masterKeyId", wrapped`;

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
    const { id, key } = await this.#currentKey(db, context.workspaceId);
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

  /** A new key for the workspace; the one before opens what it sealed until it is removed. */
  async newKey(db: Queryable, workspaceId: WorkspaceId): Promise<void> {
    const now = this.#clock.now();
    await db.run(sql`
      update data_keys set retired_at = ${now} where workspace_id = ${workspaceId} and retired_at is null`);
    await this.#insertKey(db, workspaceId);
  }

  async #currentKey(db: Queryable, workspaceId: WorkspaceId): Promise<{ id: DataKeyId; key: Buffer }> {
    const row = (await currentKeyRow(db, workspaceId)) ?? (await this.#insertKey(db, workspaceId));
    return { id: row.id, key: this.#unwrap(row) };
  }

  async #insertKey(db: Queryable, workspaceId: WorkspaceId): Promise<DataKeyRow> {
    const id = newId<DataKeyId>();
    const master = this.#masterKeys.current;
    const wrapped = encrypt(master.key.reveal(), wrapBytes(workspaceId, id), randomBytes(32));
    await db.run(sql`
      insert into data_keys (workspace_id, id, master_key_id, wrapped, created_at)
      values (${workspaceId}, ${id}, ${master.id}, ${wrapped}, ${this.#clock.now()})
      on conflict (workspace_id) where retired_at is null do nothing`);
    const row = await currentKeyRow(db, workspaceId);
    if (!row) throw new Error('a data key was inserted and is not there');
    return row;
  }

  async #fetchKey(db: Queryable, context: SealContext, id: DataKeyId): Promise<Buffer> {
    const row = await db.one<DataKeyRow>(sql`
      select ${dataKeyColumns} from data_keys where workspace_id = ${context.workspaceId} and id = ${id}`);
    if (!row) throw unreadable(context);
    return this.#unwrap(row);
  }

  #unwrap(row: DataKeyRow): Buffer {
    const known = this.#opened.get(row.id);
    if (known) return known;
    const master = this.#masterKeys.find(row.masterKeyId);
    if (!master) {
      const message = `A key of a workspace is wrapped with the master key ${row.masterKeyId}, which is not among ours.`;
      throw new Fault('wrong_master_key', `${message} Add it to SLIPWAY_MASTER_KEY.`);
    }
    try {
      const key = decrypt(master.key.reveal(), wrapBytes(row.workspaceId, row.id), row.wrapped);
      this.#opened.set(row.id, key);
      return key;
    } catch (cause) {
      throw new Fault('wrong_master_key', 'A key of a workspace does not open: it was altered.', { cause });
    }
  }
}

/**
 * Held until the transaction ends: a rotation waits for what was sealed with it to be stored, or it would remove the key
 * of a value that it has not seen.
 */
function currentKeyRow(db: Queryable, workspaceId: WorkspaceId): Promise<DataKeyRow | undefined> {
  return db.one<DataKeyRow>(sql`
    select ${dataKeyColumns} from data_keys where workspace_id = ${workspaceId} and retired_at is null for share`);
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
  return bytesOf('value', context.workspaceId, context.table, context.row, context.column);
}

function wrapBytes(workspaceId: WorkspaceId, id: DataKeyId): Buffer {
  return bytesOf('data key', workspaceId, id);
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
