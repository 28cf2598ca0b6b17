/**
 * Accounts: who someone is, and how they prove it. Owns registration by one-time code, sign-in, sessions with
 * rotating refresh tokens, second factors, password reset, stream tickets, and each account's own workspace. Refuses to tell,
 * by answer, status or time, whether an address has an account: what differs is done after the answer, by mail.
 */
import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { AccountId, InvitationId, WorkspaceId } from '../../ids.ts';
import type { Role } from '../../principal.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import type { Sealer } from '../../store/sealed.ts';

export interface AccountsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly masterKeys: MasterKeys;
  readonly sealer: Sealer;
  readonly config: Pick<Config, 'registration'>;
  /** Who was invited may register, whoever else may not: asked of the workspaces. */
  readonly invitations: {
    find(db: Queryable, token: string, email: string, now: Date): Promise<InvitationId | undefined>;
    /** False where it is gone. */
    join(tx: Queryable, id: InvitationId, accountId: AccountId, email: string, now: Date): Promise<boolean>;
  };
  /** Where people reach the service: passkeys know it by that. */
  readonly publicUrl: () => string;
  /** Called after a commit that left a mail to send. */
  readonly wakeMail: () => void;
}

export type RegistrationMode = Config['registration'];

export interface Membership {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly role: Role;
}

export interface User {
  readonly id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly emailVerifiedAt: string;
  readonly createdAt: string;
  readonly workspaces: Membership[];
}

/** Where a sign-in came from, kept with the session so that its owner can recognise it. */
export interface ClientTrace {
  readonly ip: string;
  readonly userAgent: string | undefined;
  readonly requestId: string;
  /** For clients that keep cookies: the token that they were known by, if they had one. */
  readonly device?: { readonly token: string | undefined };
}
