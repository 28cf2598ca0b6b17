/** The SQL of device codes. */
import type { SessionId } from '../../../ids.ts';
import type { Queryable } from '../../../store/database.ts';
import { sql } from '../../../store/sql.ts';

export interface NewDeviceCode {
  readonly codeHash: Buffer;
  readonly userCodeHash: Buffer;
  readonly deviceName: string;
  readonly userAgent: string | undefined;
  readonly ip: string;
  readonly intervalSeconds: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** What waits for an answer, or has one. */
export interface DeviceCodeRow extends Omit<NewDeviceCode, 'codeHash' | 'userCodeHash' | 'userAgent'> {
  readonly userAgent: string | null;
  readonly polledAt: Date | null;
  readonly allowed: boolean | null;
  readonly sessionId: SessionId | null;
  readonly provenAt: Date | null;
}

/** False where another has this user code. */
export async function insertDeviceCode(db: Queryable, row: NewDeviceCode): Promise<boolean> {
  const made = await db.run(sql`
    insert into device_codes (code_hash, user_code_hash, device_name, user_agent, ip, interval_s, created_at, expires_at)
    values (${row.codeHash}, ${row.userCodeHash}, ${row.deviceName}, ${row.userAgent ?? null}, ${row.ip},
      ${row.intervalSeconds}, ${row.createdAt}, ${row.expiresAt})
    on conflict (user_code_hash) do nothing`);
  return made > 0;
}

/** Until the transaction ends nobody else looks at it: of two who do, one is signed in. */
export function lockDeviceCode(tx: Queryable, codeHash: Buffer, now: Date) {
  return tx.one<DeviceCodeRow>(sql`
    select device_name as "deviceName", user_agent as "userAgent", ip, interval_s as "intervalSeconds",
      polled_at as "polledAt", created_at as "createdAt", expires_at as "expiresAt", allowed, session_id as "sessionId",
      proven_at as "provenAt"
    from device_codes where code_hash = ${codeHash} and expires_at > ${now} for update`);
}

export function notePoll(tx: Queryable, codeHash: Buffer, now: Date, intervalSeconds: number) {
  return tx.run(sql`
    update device_codes set polled_at = ${now}, interval_s = ${intervalSeconds} where code_hash = ${codeHash}`);
}

export function deleteDeviceCode(tx: Queryable, codeHash: Buffer) {
  return tx.run(sql`delete from device_codes where code_hash = ${codeHash}`);
}

/** What nobody has answered yet. */
export function findWaiting(db: Queryable, userCodeHash: Buffer, now: Date) {
  return db.one<Pick<DeviceCodeRow, 'deviceName' | 'userAgent' | 'ip' | 'createdAt' | 'expiresAt'>>(sql`
    select device_name as "deviceName", user_agent as "userAgent", ip, created_at as "createdAt",
      expires_at as "expiresAt"
    from device_codes where user_code_hash = ${userCodeHash} and expires_at > ${now} and allowed is null`);
}

/** False where nothing waits with it: an answer is given once. */
export async function setAnswer(
  tx: Queryable,
  userCodeHash: Buffer,
  answer: { readonly allowed: boolean; readonly sessionId: SessionId; readonly provenAt: Date },
  now: Date,
): Promise<boolean> {
  const answered = await tx.run(sql`
    update device_codes set allowed = ${answer.allowed}, session_id = ${answer.sessionId}, proven_at = ${answer.provenAt}
    where user_code_hash = ${userCodeHash} and expires_at > ${now} and allowed is null`);
  return answered > 0;
}

export function pruneDeviceCodes(db: Queryable, now: Date) {
  return db.run(sql`delete from device_codes where expires_at <= ${now}`);
}
