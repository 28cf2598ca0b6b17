/**
 * Whether somebody agreed to get mail of a workspace. Members have, by their own account; everyone else is asked once, in
 * a mail with nothing in it that the asker wrote, and gets nothing else until they agree. A refusal is remembered.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { after, type Clock, day } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { isId, newId, type RecipientId, type WorkspaceId } from '../../ids.ts';
import { normaliseEmail } from '../../principal.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { MasterKey, MasterKeys } from '../../store/master-keys.ts';
import { enqueueMail } from '../accounts/mail-outbox.ts';
import { membersAmong, ownersOf } from '../accounts/read-user.ts';
import { hashOpaqueToken, newOpaqueToken } from '../accounts/tokens.ts';
import type { ConsentStatus } from './notifications.ts';
import * as queries from './recipient-queries.ts';

export interface Recipient {
  /** As it was given. */
  readonly address: string;
  readonly status: ConsentStatus | 'member';
  /** Null for a member, and for one who was not asked yet. */
  readonly id: RecipientId | null;
}

const answerWithinMs = 7 * day;
/** Mails that ask are sent to strangers, whoever wants them to be: few a day to one address, and few by one workspace. */
const mostAsks = 3;
const asksADay = { toAddress: 3, byWorkspace: 20 } as const;

export async function readRecipients(
  db: Queryable,
  workspaceId: WorkspaceId,
  addresses: readonly string[],
): Promise<Recipient[]> {
  const found = await lookUp(db, workspaceId, addresses);
  return found.map(({ address, isMember, row }) => {
    if (isMember) return { address, status: 'member', id: null };
    return { address, status: row?.status ?? 'pending', id: row?.id ?? null };
  });
}

/** Each person once, however their address is written. */
async function lookUp(db: Queryable, workspaceId: WorkspaceId, addresses: readonly string[]) {
  const byEmail = new Map(addresses.map((address) => [normaliseEmail(address), address]));
  const emails = [...byEmail.keys()];
  if (emails.length === 0) return [];
  const members = await membersAmong(db, workspaceId, emails);
  const rows = await queries.findRecipients(db, workspaceId, emails);
  return [...byEmail].map(([email, address]) => {
    return { email, address, isMember: members.has(email), row: rows.find((each) => each.email === email) };
  });
}

/**
 * Asks those who were not asked yet, and where a person `names` them again those whose link has expired, up to three times
 * in all. Whether there are mails to send now.
 */
export async function askRecipients(
  tx: Queryable,
  workspaceId: WorkspaceId,
  addresses: readonly string[],
  now: Date,
  names: boolean,
): Promise<boolean> {
  const isDue = (row: queries.RecipientRow | undefined) => {
    if (!row || row.askedAt === null) return row === undefined || row.status === 'pending';
    const hasExpired = after(row.askedAt, answerWithinMs) <= now;
    return row.status === 'pending' && names && hasExpired && row.asks < mostAsks;
  };
  const due = async () =>
    (await lookUp(tx, workspaceId, addresses)).filter(({ isMember, row }) => !isMember && isDue(row));
  if ((await due()).length === 0) return false;
  // Looked at again with the lock: of two who ask the same person, the second finds that it was done.
  await queries.lockAsking(tx);
  let hasMail = false;
  for (const { email } of await due()) {
    const { ofAddress, byWorkspace } = await queries.countAsked(tx, workspaceId, email, after(now, -day));
    const mayAsk = ofAddress < asksADay.toAddress && byWorkspace < asksADay.byWorkspace;
    const row = { id: newId<RecipientId>(), email, askedAt: mayAsk ? now : null };
    const saved = await queries.saveAsked(tx, workspaceId, row, now);
    if (!saved || !mayAsk) continue;
    await enqueueMail(tx, 'recipient_consent', email, now, { recipientId: saved.id });
    hasMail = true;
  }
  return hasMail;
}

export interface ConsentContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly masterKeys: MasterKeys;
  readonly publicUrl: () => string;
}

/** The link for the mail that asks, made when it is sent; undefined where there is nothing to ask any more. */
export async function consentLink(
  { db, clock, publicUrl }: Omit<ConsentContext, 'masterKeys'>,
  recipientId: string,
) {
  if (!isId<RecipientId>(recipientId)) return undefined;
  const { token, hash } = newOpaqueToken('consent');
  const found = await queries.setToken(db, recipientId, hash, after(clock.now(), answerWithinMs));
  if (!found) return undefined;
  const [owner = 'Someone'] = await ownersOf(db, found.workspaceId);
  return { url: `${publicUrl()}/notifications/consent#token=${token}`, askedBy: owner };
}

/** In every mail to somebody who agreed: works for as long as they get mail, without being signed in. */
export function unsubscribeLink({ masterKeys, publicUrl }: ConsentContext, id: RecipientId): string {
  const mac = macOf(masterKeys, id, masterKeys.current).toString('base64url');
  return `${publicUrl()}/notifications/unsubscribe?token=stop_${id}_${mac}`;
}

/** A token of a mail that asks takes either answer, once; one of a mail that was agreed to only ends it. */
export async function answerConsent(
  { db, clock, masterKeys }: ConsentContext,
  token: string,
  agrees: boolean,
): Promise<void> {
  const now = clock.now();
  const [, id = '', mac = ''] = /^stop_([0-9a-f-]{36})_([\w-]{43})$/.exec(token) ?? [];
  if (isId<RecipientId>(id)) {
    const given = Buffer.from(mac, 'base64url'); // as long as ours, by the pattern
    const isOurs = masterKeys.all.some((key) => timingSafeEqual(macOf(masterKeys, id, key), given));
    if (isOurs && !agrees && (await queries.decline(db, id, now))) return;
  } else if (await queries.takeToken(db, hashOpaqueToken(token), agrees ? 'confirmed' : 'declined', now))
    return;
  throw new Fault('invalid_consent_token', 'The link is unknown, expired or already used.', {
    hint: 'Whoever wants to send you notifications can have you asked again.',
  });
}

function macOf(keys: MasterKeys, id: RecipientId, from: MasterKey): Buffer {
  return createHmac('sha256', keys.derive('unsubscribe', from)).update(id).digest();
}
