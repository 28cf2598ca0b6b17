import { Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
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
