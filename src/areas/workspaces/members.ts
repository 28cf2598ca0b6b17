/** Who is in a workspace: seen, changed, removed, leaving. An owner is made by an owner, and the last one stays. */
import { Fault } from '../../fault.ts';
import type { AccountId, WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import type { Place } from '../../principal.ts';
import { addToNote } from '../../store/change-note.ts';
import type { Queryable } from '../../store/database.ts';
import * as queries from './queries.ts';
import {
  type Actor,
  checkPlace,
  lockAs,
  memberNotFound,
  requireOwnerFor,
  type WorkspacesContext,
} from './workspaces.ts';

export async function listMembers(db: Queryable, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const rows = await queries.listMembers(db, workspaceId, { before, limit: limit + 1 });
  return page.answer(rows, show);
}

export async function changeMember(
  { db }: WorkspacesContext,
  actor: Actor,
  accountId: AccountId,
  change: Partial<Place>,
) {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    const by = await lockAs(tx, actor, 'manage');
    const before = await queries.findMember(tx, workspaceId, accountId);
    if (!before) throw memberNotFound();
    const { role = before.role } = change;
    const isAbove = role === 'owner' || role === 'admin';
    // Who becomes an admin is no longer limited, unless that is said as well, and then refused.
    const { projects = isAbove ? null : before.projects } = change;
    const place = { role, projects };
    requireOwnerFor(by, before, place);
    await checkPlace(tx, workspaceId, place);
    if (before.role === 'owner' && role !== 'owner') await requireOtherOwner(tx, workspaceId, accountId);
    await queries.setPlace(tx, workspaceId, accountId, place);
    addToNote({ before: { role: before.role, projects: before.projects } });
    return show({ ...before, ...place });
  });
}

/** Oneself, or with the right to: somebody else. Their tokens go with them, and their streams end. */
export async function removeMember(
  { db }: WorkspacesContext,
  actor: Actor,
  accountId: AccountId,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const isLeaving = accountId === actor.accountId;
    const by = await lockAs(tx, actor, isLeaving ? 'read' : 'manage');
    const before = isLeaving ? by : await queries.findMember(tx, workspaceId, accountId);
    if (!before) throw memberNotFound();
    requireOwnerFor(by, before);
    if (before.role === 'owner') await requireOtherOwner(tx, workspaceId, accountId);
    await queries.deleteMember(tx, workspaceId, accountId);
    addToNote({ before: { email: before.email, role: before.role } });
  });
}

async function requireOtherOwner(tx: Queryable, workspaceId: WorkspaceId, accountId: AccountId) {
  if (await queries.hasOtherOwner(tx, workspaceId, accountId)) return;
  throw new Fault('last_owner', 'This is the last owner of the workspace.', {
    hint: 'Make another member an owner first, or delete the workspace.',
  });
}

function show({ id, email, name, role, projects, secondFactor, joinedAt }: queries.MemberRow) {
  return {
    account: { id, email, name },
    role,
    projects: projects && [...projects],
    secondFactor,
    joinedAt: joinedAt.toISOString(),
  };
}
