/**
 * Devices that an account was signed in from: each has a token of its own in a cookie. It opens nothing. Where sign-ins are
 * limited it has a count of its own, so that strangers who guess cannot keep an owner out (`http/limits.ts`).
 */
import { after } from '../../clock.ts';
import type { AccountId } from '../../ids.ts';
import type { KnownDevice } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import type { ClientTrace } from './accounts.ts';
import { findDeviceEmails, renewDevice, saveDevice } from './session-queries.ts';
import { hashOpaqueToken, lifetimes, newOpaqueToken } from './tokens.ts';

/** More than anyone signs in from; a program that keeps no cookie makes a new one each time. */
const mostPerAccount = 50;

/** In the transaction that lets someone in: the token that the device is known by from now on. */
export async function recordDevice(
  tx: Queryable,
  accountId: AccountId,
  { device }: ClientTrace,
  now: Date,
): Promise<string | undefined> {
  if (!device) return undefined;
  const { token, hash } = newOpaqueToken('device');
  if (device.token !== undefined) await renewDevice(tx, hashOpaqueToken(device.token), hash);
  await saveDevice(tx, hash, accountId, now, mostPerAccount);
  return token;
}

export async function findDevice(db: Queryable, token: string, now: Date): Promise<KnownDevice | undefined> {
  const hash = hashOpaqueToken(token);
  const emails = await findDeviceEmails(db, hash, after(now, -lifetimes.deviceMs));
  if (emails.length === 0) return undefined;
  return { id: hash.toString('base64url').slice(0, 22), isOf: (email) => emails.includes(email) };
}
