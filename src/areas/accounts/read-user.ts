import { Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Principal } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import type { User } from './accounts.ts';
import { findMemberEmails, findOwnerEmails, findUser } from './queries.ts';

export async function readUser(db: Queryable, accountId: AccountId): Promise<User> {
  const row = await findUser(db, accountId);
  if (!row) throw new Fault('not_found', 'This account does not exist any more.');
  return {
    ...row,
    emailVerifiedAt: row.emailVerifiedAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
  };
}

/** As far as this session or token sees it. */
export async function readProfile(db: Queryable, { accountId, memberships }: Principal): Promise<User> {
  const user = await readUser(db, accountId);
  const seen = new Set(memberships.map(({ id }) => id));
  return { ...user, workspaces: user.workspaces.filter(({ id }) => seen.has(id)) };
}

export function ownersOf(db: Queryable, workspaceId: WorkspaceId): Promise<string[]> {
  return findOwnerEmails(db, workspaceId);
}

/** Of these addresses, those of members: an account exists only once its address was confirmed. */
export async function membersAmong(
  db: Queryable,
  workspaceId: WorkspaceId,
  emails: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await findMemberEmails(db, workspaceId, emails)).map(({ email }) => email));
}
