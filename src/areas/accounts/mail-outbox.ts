/**
 * The outbox of mails: stored in the transaction that causes them, sent afterwards, kept until the server took them.
 * What a mail says, and whether there is one to send at all, is decided here, out of sight of the caller.
 */
import type { Logger } from 'pino';
import type { Mailer, Message } from '../../adapters/mail/mail.ts';
import { after, type Clock, day, minute, second } from '../../clock.ts';
import { errorText } from '../../fault.ts';
import { newId, type OutboxMailId } from '../../ids.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import { sql } from '../../store/sql.ts';
import { WakeLoop } from '../../wake-loop.ts';
import * as texts from './mail-texts.ts';
import * as queries from './queries.ts';
import { lifetimes, newOpaqueToken, newOtpSeed, otpOf, otpTries } from './tokens.ts';

export type MailKind =
  | 'registration'
  | 'fresh_code'
  | 'reset'
  | 'set_password'
  | 'password_changed'
  | 'oidc_linked'
  | 'new_location'
  | 'second_factor'
  | 'connector_disabled'
  | 'recipient_consent'
  | 'invitation';

/** What a mail says beyond its kind. Never a code or a token: those are made when it is sent. */
export type MailData = Readonly<Record<string, string>>;

interface OutboxMail {
  readonly id: OutboxMailId;
  readonly kind: MailKind;
  readonly email: string;
  readonly data: MailData;
  readonly attempts: number;
  readonly createdAt: Date;
}

export function enqueueMail(tx: Queryable, kind: MailKind, email: string, now: Date, data: MailData = {}) {
  return tx.run(sql`
    insert into mail_outbox (id, kind, email, data, due_at, created_at)
    values (${newId<OutboxMailId>()}, ${kind}, ${email}, ${JSON.stringify(data)}::jsonb, ${now}, ${now})`);
}

export interface MailOutboxContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly masterKeys: MasterKeys;
  readonly mailer: Mailer;
  readonly publicUrl: () => string;
  /** Where somebody who is to get notifications agrees; undefined where there is nothing to ask them any more. */
  readonly consentLink: (recipientId: string) => Promise<texts.ConsentLink | undefined>;
  /** Where somebody joins who was invited; undefined where the invitation is gone. */
  readonly invitationLink: (invitationId: string) => Promise<texts.InvitationLink | undefined>;
  readonly log: Logger;
}

/** Longer than a mail server may keep us waiting: nobody else takes the mail meanwhile. */
const leaseMs = 2 * minute;
const pollMs = 5 * second;
const giveUpAfterMs = day;

export class MailOutbox {
  readonly #context: MailOutboxContext;
  readonly #loop = new WakeLoop(() => this.#round());

  constructor(context: MailOutboxContext) {
    this.#context = context;
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Waits for the mail being sent; the rest is sent by another instance, or after the next start. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #round(): Promise<number> {
    try {
      while (!this.#loop.isStopped && (await this.#sendNext()));
    } catch (error) {
      this.#context.log.warn(
        { reason: errorText(error) },
        'could not read the outbox of mails, trying again',
      );
    }
    return pollMs;
  }

  async #sendNext(): Promise<boolean> {
    const { db, clock, mailer, log } = this.#context;
    const mail = await takeNext(db, clock.now());
    if (!mail) return false;
    try {
      const message = await this.#compose(mail);
      if (message) await mailer.send(message);
      await db.run(sql`delete from mail_outbox where id = ${mail.id}`);
    } catch (error) {
      const waitMs = Math.min(5 * second * 2 ** mail.attempts, 30 * minute);
      const lost = clock.now().getTime() - mail.createdAt.getTime() > giveUpAfterMs;
      log.error(
        { mailId: mail.id, kind: mail.kind, reason: errorText(error), lost, waitMs },
        'could not send a mail',
      );
      if (lost) await db.run(sql`delete from mail_outbox where id = ${mail.id}`);
      else
        await db.run(
          sql`update mail_outbox set due_at = ${after(clock.now(), waitMs)} where id = ${mail.id}`,
        );
    }
    return true;
  }

  /** The message, or undefined where there is nobody to send one to. */
  async #compose({ kind, email, data, createdAt }: OutboxMail): Promise<Message | undefined> {
    const { db, clock } = this.#context;
    const now = clock.now();
    switch (kind) {
      case 'registration':
      case 'fresh_code': {
        const found = await queries.findRegistration(db, email);
        if (!found) return undefined;
        if (found.hasAccount) {
          return kind === 'registration'
            ? texts.alreadyRegisteredMail(email, await this.#resetLink(email))
            : undefined;
        }
        if (kind === 'registration' && found.otpExpiresAt <= now) return undefined;
        const expiresAt = kind === 'fresh_code' ? after(now, lifetimes.otpMs) : found.otpExpiresAt;
        const code = await this.#code(email, expiresAt);
        return code === undefined ? undefined : texts.oneTimeCodeMail(email, code);
      }
      case 'reset':
      case 'set_password': {
        const link = await this.#resetLink(email);
        if (!link) return undefined;
        return kind === 'reset' ? texts.resetPasswordMail(email, link) : texts.setPasswordMail(email, link);
      }
      case 'password_changed':
        return texts.passwordChangedMail(email);
      case 'oidc_linked':
        return texts.oidcLinkedMail(email);
      case 'new_location':
        return texts.newLocationMail(email, {
          browser: data.browser ?? '',
          ip: data.ip ?? '',
          at: createdAt,
        });
      case 'second_factor':
        return texts.secondFactorMail(email, data.change ?? '', data.left ?? '');
      case 'connector_disabled':
        return texts.connectorDisabledMail(email, { name: data.name ?? '', detail: data.detail ?? '' });
      case 'recipient_consent': {
        const link = await this.#context.consentLink(data.recipientId ?? '');
        return link && texts.recipientConsentMail(email, link);
      }
      case 'invitation': {
        const link = await this.#context.invitationLink(data.invitationId ?? '');
        return link && texts.invitationMail(email, link);
      }
    }
  }

  async #code(email: string, expiresAt: Date): Promise<string | undefined> {
    const { db, clock, masterKeys } = this.#context;
    const now = clock.now();
    const seed = await queries.renewOtp(db, email, {
      seed: newOtpSeed(),
      expiresAt,
      now,
      oldest: after(now, -lifetimes.otpMs),
      youngest: after(now, -lifetimes.otpLeastMs),
      ...otpTries,
    });
    return seed && otpOf(masterKeys, email, seed);
  }

  async #resetLink(email: string): Promise<texts.ResetLink | undefined> {
    const { db, clock, publicUrl } = this.#context;
    const account = await queries.findAccountByEmail(db, email);
    if (!account) return undefined;
    const reset = newOpaqueToken('reset');
    await queries.insertReset(db, reset.hash, account.id, after(clock.now(), lifetimes.resetMs));
    return { token: reset.token, url: `${publicUrl()}/reset-password#token=${reset.token}` };
  }
}

/** Takes a mail for a while, so that another instance leaves it alone, and a crash of ours does not lose it. */
function takeNext(db: Database, now: Date): Promise<OutboxMail | undefined> {
  return db.one<OutboxMail>(sql`
    update mail_outbox set due_at = ${after(now, leaseMs)}, attempts = attempts + 1
    where id = (
      select id from mail_outbox where due_at <= ${now} order by due_at, id limit 1 for update skip locked
    )
    returning id, kind, email, data, attempts, created_at as "createdAt"`);
}
