import { type AccountId, newId, type WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { AccountsContext } from './accounts.ts';
import * as queries from './queries.ts';
import { whyClosed } from './register.ts';

export interface NewAccount {
  /** Proven to be theirs. */
  readonly email: string;
  readonly name: string | null;
  readonly passwordHash: string | null;
}

/** What somebody new comes for: whether that lets them in where registration is closed, and whether they are in a workspace by it. */
export interface Coming {
  readonly isLetIn: boolean;
  readonly hasWorkspace: boolean;
}

/** By a confirmed address; undefined where that has an account. `join` is called with the new one, in the transaction. */
export async function makeAccount(
  tx: Queryable,
  context: AccountsContext,
  { email, name, passwordHash }: NewAccount,
  join: (accountId: AccountId) => Promise<Coming>,
): Promise<AccountId | undefined> {
  const now = context.clock.now();
  const id = newId<AccountId>();
  const isFirst = await queries.lockIfFirst(tx);
  // Before the account is there: with it, nobody would be the first one.
  const closed = await whyClosed(tx, context, 'lock');
  if (!(await queries.insertAccount(tx, { id, email, name, passwordHash, isFirst, now }))) return undefined;
  const { isLetIn, hasWorkspace } = await join(id);
  if (closed && !isLetIn) throw closed;
  // Whoever comes for the workspace of others gets none of their own.
  if (!hasWorkspace) await makeWorkspace(tx, name ?? email.slice(0, email.indexOf('@')), id, now);
  return id;
}

/** With its first owner. */
export async function makeWorkspace(
  tx: Queryable,
  name: string,
  ownerId: AccountId,
  now: Date,
): Promise<WorkspaceId> {
  const id = newId<WorkspaceId>();
  await queries.insertWorkspace(tx, { id, name, ownerId, now });
  return id;
}
