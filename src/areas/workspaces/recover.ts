/**
 * For whoever runs the machine, where nobody who can sign in owns a workspace or looks after the installation any more. It
 * is in the audit log like everything else: as done by the service itself.
 */
import { writeAccountEntry, writeEntry } from '../../events/audit.ts';
import { Fault } from '../../fault.ts';
import { type AccountId, isId, type WorkspaceId } from '../../ids.ts';
import { normaliseEmail } from '../../principal.ts';
import type { Database, Queryable } from '../../store/database.ts';
import {
  findAccount,
  insertMember,
  isWorkspace,
  listOwned,
  type OwnedWorkspace,
  setOperator,
  setPlace,
} from './queries.ts';

const action = 'recover';
const pageSize = 500;
const beforeAll = '00000000-0000-0000-0000-000000000000';
const owner = { role: 'owner', projects: null } as const;

export async function makeOperator(db: Database, email: string): Promise<void> {
  await db.transaction(async (tx) => {
    const accountId = await requireAccount(tx, email);
    await setOperator(tx, accountId);
    const subject = { type: 'account', id: accountId };
    await writeAccountEntry(tx, accountId, { actor: { kind: 'service' }, action, subject });
  });
}

export async function makeOwner(db: Database, email: string, workspace: string, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const accountId = await requireAccount(tx, email);
    if (!isId<WorkspaceId>(workspace) || !(await isWorkspace(tx, workspace)))
      throw new Fault('state_refused', `There is no workspace ${workspace}.`, {
        hint: '`npm run slipway -- workspaces` lists all of them.',
      });
    if (!(await insertMember(tx, workspace, accountId, owner, now)))
      await setPlace(tx, workspace, accountId, owner);
    const subject = { type: 'member', id: accountId };
    await writeEntry(tx, workspace, { actor: { kind: 'service' }, action, subject });
  });
}

/** The oldest first, page by page: there may be many. */
export async function* allWorkspaces(db: Queryable): AsyncIterable<OwnedWorkspace> {
  for (let after = beforeAll; ; ) {
    const page = await listOwned(db, after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.id;
  }
}

async function requireAccount(tx: Queryable, email: string): Promise<AccountId> {
  const account = await findAccount(tx, normaliseEmail(email));
  if (account) return account.id;
  throw new Fault('state_refused', `There is no account of ${email}.`, {
    hint: 'Register it first; SLIPWAY_REGISTRATION=open lets everyone do so.',
  });
}
