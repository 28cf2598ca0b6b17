/**
 * Where an account is signed in from: the family of the browser, its system, and the part of the address that stays
 * when a line gets a new one. A location that was not seen for 90 days is reported to the account's own mailbox. The first
 * sign-in of all is not: there is nothing to compare it with.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { after, day } from '../../clock.ts';
import type { AccountId } from '../../ids.ts';
import { prefixOf } from '../../network.ts';
import type { Queryable } from '../../store/database.ts';
import type { ClientTrace } from './accounts.ts';
import { enqueueMail } from './mail-outbox.ts';
import { findUser } from './queries.ts';
import { saveLocation } from './session-queries.ts';

export const keepLocationsMs = 90 * day;

/** In the transaction that opens the session. */
export async function recordSignInLocation(
  tx: Queryable,
  accountId: AccountId,
  client: ClientTrace,
  now: Date,
): Promise<void> {
  const { ip } = client;
  const browser = browserOf(client.userAgent ?? '');
  const seen = await saveLocation(tx, accountId, locationOf(client), now, after(now, -keepLocationsMs));
  if (seen.isKnown || seen.others === 0) return;
  const user = await findUser(tx, accountId);
  if (user) await enqueueMail(tx, 'new_location', user.email, now, { browser, ip: shownAddress(ip) });
}

export function locationOf({ ip, userAgent }: ClientTrace): string {
  return `${browserOf(userAgent ?? '')} ${prefixOf(ip)}`;
}

const families: readonly (readonly [name: string, seen: RegExp])[] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|Chromium)\//],
  ['Safari', /\bSafari\//],
  ['the Slipway command line', /^slipway-cli\//],
  ['curl', /^curl\//],
  ['a Node program', /^(node|undici|axios)\b/i],
  ['a Python program', /^python/i],
  ['a Go program', /^Go-http-client/],
];
const systems: readonly (readonly [name: string, seen: RegExp])[] = [
  ['Windows', /Windows/],
  ['iOS', /iPhone|iPad/],
  ['Android', /Android/],
  ['macOS', /Mac OS X|Macintosh/],
  ['Linux', /Linux|X11/],
];

/** Our words alone, never those of who signed in: they are read in a mail. */
export function browserOf(userAgent: string): string {
  const family = families.find(([, seen]) => seen.test(userAgent))?.[0] ?? 'an unknown program';
  const system = systems.find(([, seen]) => seen.test(userAgent))?.[0];
  return system === undefined ? family : `${family} on ${system}`;
}

function shownAddress(ip: string): string {
  return isIPv4(ip) || isIPv6(ip) ? ip : 'an unknown address';
}
