/** Who makes a request, as HTTP asks for them and the accounts know them: neither has to know the other. */
import { Fault } from './fault.ts';
import type { AccountId, ApiTokenId, ProjectId, SessionId, WorkspaceId } from './ids.ts';

export const roles = ['owner', 'admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** What a call takes of its caller's role. `own` is for owners alone, and no token has it. */
export const permissions = ['read', 'deploy', 'change', 'manage', 'read_secrets', 'own'] as const;
export type Permission = (typeof permissions)[number];

/** What a token may be given: it can do no more than these, and no more than its maker. */
export const abilities = ['read', 'deploy', 'change', 'manage', 'read_secrets'] as const;
export type Ability = (typeof abilities)[number];

const ofRole: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  member: ['read', 'deploy', 'change'],
  admin: ['read', 'deploy', 'change', 'manage', 'read_secrets'],
  owner: permissions,
};

/** Each includes what it cannot do without: who deploys looks how it goes. Secrets are asked for by name. */
const ofAbility: Readonly<Record<Ability, readonly Permission[]>> = {
  read: ['read'],
  deploy: ['read', 'deploy'],
  change: ['read', 'deploy', 'change'],
  manage: ['read', 'deploy', 'change', 'manage'],
  read_secrets: ['read', 'read_secrets'],
};

export function roleAllows(role: Role, permission: Permission): boolean {
  return ofRole[role].includes(permission);
}

export function abilitiesAllow(given: readonly Ability[], permission: Permission): boolean {
  return given.some((ability) => ofAbility[ability].includes(permission));
}

export interface ProjectRole {
  readonly projectId: ProjectId;
  /** Owned is a workspace, not a project. */
  readonly role: Exclude<Role, 'owner'>;
}

/** What somebody is in a workspace. */
export interface Place {
  readonly role: Role;
  /** The only ones there are for somebody who is limited, each with a role of its own; else null. */
  readonly projects: readonly ProjectRole[] | null;
}

/** Someone's place in one workspace among theirs. */
export interface Membership extends Place {
  readonly id: WorkspaceId;
  /** The workspace is being removed: there is nothing to change any more. */
  readonly closing: boolean;
  /** The workspace requires a second factor, and the account has none: there is little it may do here. */
  readonly lacksFactor: boolean;
}

/** What of a workspace somebody sees: these projects, or all. */
export interface Sight {
  readonly workspaceId: WorkspaceId;
  readonly projects: readonly ProjectId[] | null;
}

/** What a request proves itself with. */
export type Credential =
  | {
      readonly kind: 'session';
      readonly id: SessionId /** When it last proved who it is. */;
      readonly provenAt: Date;
    }
  | { readonly kind: 'token'; readonly id: ApiTokenId; readonly abilities: readonly Ability[] };

/** An account with a live session or token, and what it may act for. */
export interface Principal {
  readonly accountId: AccountId;
  /** Whether the account has one. */
  readonly secondFactor: boolean;
  readonly credential: Credential;
  readonly memberships: readonly Membership[];
}

/** Whether a place in a workspace is what it was: where it is not, a stream that stood on it ends. */
export function isSamePlace(one: Membership | undefined, other: Membership | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** A device that someone has signed in from before. */
export interface KnownDevice {
  readonly id: string;
  /** Whether the account of this address has; `email` is normalised. */
  isOf(email: string): boolean;
}

/** From what a request carries to who makes it. */
export interface Sessions {
  /** An access token of a session, or an API token. */
  byBearer(token: string): Promise<Principal>;
  /** Takes the ticket: it works once. */
  byStreamTicket(ticket: string): Promise<Principal>;
  /** Who still stands behind these; those that have ended are not in the answer. */
  byCredentials(credentials: readonly Credential[]): Promise<Map<Credential['id'], Principal>>;
  byDeviceToken(token: string): Promise<KnownDevice | undefined>;
  /** Whether the account looks after the installation. */
  isOperator(id: AccountId): Promise<boolean>;
}

export function unauthenticated(sentence: string): Fault {
  return new Fault('unauthenticated', sentence, { hint: 'Sign in with POST /auth/login.' });
}

/** One spelling per address: what differs only in case is the same mailbox in practice. */
export function normaliseEmail(email: string): string {
  return email.normalize('NFC').toLowerCase();
}
