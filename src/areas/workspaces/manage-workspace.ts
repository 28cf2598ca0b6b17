/** A workspace as its members see it; made, renamed, and made to require a second factor. */
import { Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Principal } from '../../principal.ts';
import { addToNote } from '../../store/change-note.ts';
import type { Queryable } from '../../store/database.ts';
import { makeWorkspace } from '../accounts/make-account.ts';
import * as queries from './queries.ts';
import { invalid, lockAs, type WorkspacesContext, workspaceNotFound } from './workspaces.ts';

/** More than anyone needs; each has keys, feeds and limits of its own. */
const mostPerAccount = 50;

/** Those that this session or token sees. */
export async function listWorkspaces(db: Queryable, { accountId, memberships }: Principal, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listWorkspaces(db, accountId, { before, limit: limit + 1 });
  return page.answer(
    rows.filter(({ id }) => memberships.some((each) => each.id === id)),
    show,
  );
}

export async function readWorkspace(db: Queryable, id: WorkspaceId, accountId: AccountId) {
  const row = await queries.findWorkspace(db, id, accountId);
  if (!row) throw workspaceNotFound();
  return show(row);
}

export async function createWorkspace(
  { db, clock }: WorkspacesContext,
  { accountId, memberships }: Principal,
  name: string,
) {
  if (memberships.length >= mostPerAccount)
    throw invalid('name', `cannot be given: you are in ${mostPerAccount} workspaces already`);
  return db.transaction(async (tx) => {
    const id = await makeWorkspace(tx, name, accountId, clock.now());
    addToNote({ workspaceId: id, subject: { type: 'workspace', id } });
    return readWorkspace(tx, id, accountId);
  });
}

export interface WorkspaceChange {
  readonly name?: string;
  readonly requiresSecondFactor?: boolean;
}

export async function changeWorkspace(
  { db }: WorkspacesContext,
  workspaceId: WorkspaceId,
  { accountId, credential }: Principal,
  { name, requiresSecondFactor }: WorkspaceChange,
) {
  const actor = { workspaceId, accountId };
  return db.transaction(async (tx) => {
    await lockAs(tx, actor, requiresSecondFactor === undefined ? 'manage' : 'own');
    const before = await readWorkspace(tx, workspaceId, accountId);
    addToNote({ before: { name: before.name, requiresSecondFactor: before.requiresSecondFactor } });
    if (name !== undefined) await queries.setName(tx, workspaceId, name);
    if (requiresSecondFactor !== undefined) {
      if (credential.kind === 'token')
        throw new Fault('forbidden', 'An API token cannot say whether a second factor is required.');
      if (requiresSecondFactor) await requireOwnFactor(tx, accountId);
      await queries.setRequiresSecondFactor(tx, workspaceId, requiresSecondFactor);
    }
    return readWorkspace(tx, workspaceId, accountId);
  });
}

/** Whoever would shut themselves out is told so before. */
async function requireOwnFactor(tx: Queryable, accountId: AccountId): Promise<void> {
  if (await queries.hasSecondFactor(tx, accountId)) return;
  throw new Fault('no_second_factor', 'You have no second factor yourself: you would be shut out at once.', {
    hint: 'First set up an authenticator app with POST /auth/totp, or a passkey with POST /auth/passkeys/options.',
  });
}

function show({ closing, removedAt, createdAt, projects, ...row }: queries.WorkspaceRow) {
  return {
    ...row,
    projects: projects && [...projects],
    status: removedAt ? ('removed' as const) : closing ? ('removing' as const) : ('active' as const),
    createdAt: createdAt.toISOString(),
  };
}
