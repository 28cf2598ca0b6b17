/** Who makes a request, as HTTP asks for them and the accounts know them: neither has to know the other. */
import { Fault } from './fault.ts';
import type { AccountId, SessionId, WorkspaceId } from './ids.ts';

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/** A live session of an account, and what it may act for. */
export interface Principal {
  readonly accountId: AccountId;
  readonly sessionId: SessionId;
  readonly memberships: readonly { readonly id: WorkspaceId; readonly role: Role }[];
}

/** A device that someone has signed in from before. */
export interface KnownDevice {
  readonly id: string;
  /** Whether the account of this address has; `email` is normalised. */
  isOf(email: string): boolean;
}

/** From what a request carries to who makes it. */
export interface Sessions {
  byAccessToken(token: string): Promise<Principal>;
  /** Takes the ticket: it works once. */
  byStreamTicket(ticket: string): Promise<Principal>;
  /** Who still stands behind these sessions; those that have ended are not in the answer. */
  bySessions(ids: readonly SessionId[]): Promise<Map<SessionId, Principal>>;
  byDeviceToken(token: string): Promise<KnownDevice | undefined>;
}

export function unauthenticated(sentence: string): Fault {
  return new Fault('unauthenticated', sentence, { hint: 'Sign in with POST /api/v1/auth/login.' });
}

/** One spelling per address: what differs only in case is the same mailbox in practice. */
export function normaliseEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
