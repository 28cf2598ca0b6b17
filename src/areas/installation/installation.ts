/**
 * What is of the whole installation: who may register, who looks after it, whether mail goes out, which version runs. The
 * first account looks after it, and makes others do so. Refuses to be left without anybody.
 */

import type { Logger } from 'pino';
import type { Mailer } from '../../adapters/mail/mail.ts';
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { errorText, Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import { addToNote } from '../../store/change-note.ts';
import type { Database, Queryable } from '../../store/database.ts';
import { version } from '../../version.ts';
import { readUser } from '../accounts/read-user.ts';
import * as queries from './queries.ts';

export interface InstallationContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly config: Pick<
    Config,
    | 'registration'
    | 'limitRequests'
    | 'limitSignIn'
    | 'limitSearch'
    | 'limitTriggers'
    | 'limitStreams'
    | 'auditDays'
  >;
  readonly mailer: Mailer;
  readonly log: Logger;
  /** Absent where nobody signs in by OpenID Connect. */
  readonly oidc:
    | {
        readonly issuer: string;
        readonly unknownWorkspaces: (
          db: Queryable,
        ) => Promise<readonly { readonly workspaceId: WorkspaceId; readonly groups: readonly string[] }[]>;
      }
    | undefined;
}

export interface InstallationChange {
  /** Null: what the settings say. */
  readonly registration?: Config['registration'] | null;
  readonly operatorIds?: readonly AccountId[];
}

export function readInstallation(ctx: InstallationContext) {
  return show(ctx, ctx.db);
}

export async function changeInstallation(ctx: InstallationContext, change: InstallationChange) {
  return ctx.db.transaction(async (tx) => {
    await queries.lockInstallation(tx, ctx.clock.now());
    const before = await show(ctx, tx);
    addToNote({
      subject: { type: 'installation', id: 'installation' },
      before: { registration: before.registration, operators: before.operators.map(({ id }) => id) },
    });
    const { registration, operatorIds } = change;
    if (registration !== undefined) await queries.setRegistration(tx, registration, ctx.clock.now());
    if (operatorIds) {
      const missing = await queries.setOperators(tx, operatorIds);
      const place = operatorIds.findIndex((id) => missing.has(id));
      if (place >= 0) {
        const path = `operatorIds[${place}]`;
        throw new Fault('invalid_input', 'There is no such account.', {
          errors: [{ path, message: 'is not the id of an account' }],
        });
      }
    }
    return show(ctx, tx);
  });
}

/** To whoever asks, at once: what the mail server said is the answer. */
export async function testMail({ db, mailer }: InstallationContext, accountId: AccountId) {
  const { email } = await readUser(db, accountId);
  const text = 'This is a test: mails of this Slipway reach you.';
  const message = { to: email, subject: 'Slipway can send mail', text: `${text}\n`, html: `<p>${text}</p>` };
  try {
    return { delivered: true, to: email, detail: await mailer.send(message) };
  } catch (error) {
    return { delivered: false, to: email, detail: errorText(error) };
  }
}

/** At a start, so that whoever has just written the settings reads it. */
export async function warnOfSettings({ db, oidc, log }: InstallationContext): Promise<void> {
  for (const { workspaceId, groups } of (await oidc?.unknownWorkspaces(db)) ?? [])
    log.warn(
      { workspaceId, groups },
      'SLIPWAY_OIDC_ROLES names a workspace that is not here: its groups give nobody a role in it',
    );
}

async function show({ config, mailer, oidc }: InstallationContext, db: Queryable) {
  const changed = await queries.findChanged(db);
  const { limitRequests: requests, limitSignIn: signIn, limitSearch: search } = config;
  const { limitTriggers: triggers, limitStreams: streams, auditDays } = config;
  return {
    version,
    registration: changed?.registration ?? config.registration,
    registrationSetting: config.registration,
    operators: await queries.listOperators(db),
    accounts: await queries.countAccounts(db),
    mail: mailer.destination,
    limits: { requests, signIn, search, triggers, streams },
    auditDays,
    oidc: oidc ? { issuer: oidc.issuer, unknownWorkspaces: await oidc.unknownWorkspaces(db) } : null,
  };
}
