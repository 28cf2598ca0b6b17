/** A workspace as its members see it; made, renamed. */
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Principal } from '../../principal.ts';
import { addToNote } from '../../store/change-note.ts';
import type { Queryable } from '../../store/database.ts';
import { makeWorkspace } from '../accounts/make-account.ts';
import * as queries from './queries.ts';
import { type Actor, invalid, lockAs, type WorkspacesContext, workspaceNotFound } from './workspaces.ts';

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

export async function renameWorkspace({ db }: WorkspacesContext, actor: Actor, name: string) {
  return db.transaction(async (tx) => {
    await lockAs(tx, actor, 'manage');
    const { name: before } = await readWorkspace(tx, actor.workspaceId, actor.accountId);
    addToNote({ before: { name: before } });
    await queries.setName(tx, actor.workspaceId, name);
    return readWorkspace(tx, actor.workspaceId, actor.accountId);
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
