/**
 * Invitations: a mail with a link that works once, for seven days, and only for the address that it was sent to. Whoever
 * has no account yet registers with it, also where registration is closed: that they read the mail is proof enough.
 */
import { after, day } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import { type AccountId, type InvitationId, isId, newId, type WorkspaceId } from '../../ids.ts';
import type { Page } from '../../page.ts';
import { normaliseEmail, type Place } from '../../principal.ts';
import type { SaveResponse } from '../../store/answer.ts';
import { addToNote } from '../../store/change-note.ts';
import type { Queryable } from '../../store/database.ts';
import { enqueueMail } from '../accounts/mail-outbox.ts';
import { readUser } from '../accounts/read-user.ts';
import { hashOpaqueToken, newOpaqueToken } from '../accounts/tokens.ts';
import * as queries from './invitation-queries.ts';
import { insertMember, isMemberEmail } from './queries.ts';
import {
  type Actor,
  checkPlace,
  invalid,
  lockAs,
  requireOwnerFor,
  type WorkspacesContext,
} from './workspaces.ts';

const lifetimeMs = 7 * day;
const mostOpen = 200;

export async function invite(
  ctx: WorkspacesContext,
  actor: Actor,
  input: { readonly email: string } & Place,
  saveResponse: SaveResponse,
) {
  const { db, clock } = ctx;
  const { workspaceId, accountId: invitedBy } = actor;
  const email = normaliseEmail(input.email);
  const now = clock.now();
  const place = { role: input.role, projects: input.projects };
  const made = await db.transaction(async (tx) => {
    const by = await lockAs(tx, actor, 'manage');
    requireOwnerFor(by, place);
    await checkPlace(tx, workspaceId, place);
    if (await isMemberEmail(tx, workspaceId, email))
      throw new Fault('already_member', 'This address is a member of the workspace.', {
        errors: [{ path: 'email', message: 'is a member’s' }],
      });
    if ((await queries.countInvitations(tx, workspaceId)) >= mostOpen)
      throw invalid('email', `cannot be invited: ${mostOpen} invitations are open, withdraw some`);
    const id = newId<InvitationId>();
    const row = {
      ...place,
      id,
      workspaceId,
      email,
      invitedBy,
      expiresAt: after(now, lifetimeMs),
      createdAt: now,
    };
    await queries.saveInvitation(tx, row);
    await enqueueMail(tx, 'invitation', email, now, { invitationId: id });
    addToNote({ subject: { type: 'invitation', id } });
    const location = `/api/v1/workspaces/${workspaceId}/invitations/${id}`;
    return saveResponse(tx, { status: 201, location, body: show(row) });
  });
  ctx.wakeMail();
  return made;
}

export async function listInvitations(ctx: WorkspacesContext, workspaceId: WorkspaceId, page: Page) {
  const { before, limit } = page;
  const asked = { before, limit: limit + 1, now: ctx.clock.now() };
  return page.answer(await queries.listInvitations(ctx.db, workspaceId, asked), show);
}

export async function withdrawInvitation({ db }: WorkspacesContext, actor: Actor, id: InvitationId) {
  await db.transaction(async (tx) => {
    await lockAs(tx, actor, 'manage');
    if (!(await queries.deleteInvitation(tx, actor.workspaceId, id)))
      throw new Fault('not_found', 'No such invitation.');
  });
}

/** The link for the mail, made when it is sent; undefined where it was withdrawn or taken meanwhile. */
export async function invitationLink(
  { db, clock, publicUrl }: Pick<WorkspacesContext, 'db' | 'clock' | 'publicUrl'>,
  id: string,
) {
  if (!isId<InvitationId>(id)) return undefined;
  const { token, hash } = newOpaqueToken('invitation');
  const found = await queries.setInvitationToken(db, id, hash, clock.now());
  return found && { ...found, url: `${publicUrl()}/invitation#token=${token}` };
}

export async function acceptInvitation(
  { db, clock }: WorkspacesContext,
  accountId: AccountId,
  token: string,
) {
  const now = clock.now();
  return db.transaction(async (tx) => {
    const user = await readUser(tx, accountId);
    const found = await queries.findInvitation(tx, hashOpaqueToken(token), now);
    if (!found) throw invalidInvitation();
    if (found.email !== user.email)
      throw new Fault('forbidden', 'This invitation is for another address than that of your account.', {
        hint: 'Sign in with the address that the mail was sent to.',
      });
    addToNote({ workspaceId: found.workspaceId, subject: { type: 'invitation', id: found.id } });
    return joinAs(tx, found.id, accountId, user.email, now);
  });
}

/** For whoever registers: the invitation of this token, where it is theirs. */
export async function findInvitationFor(
  db: Queryable,
  token: string,
  email: string,
  now: Date,
): Promise<InvitationId | undefined> {
  const found = await queries.findInvitation(db, hashOpaqueToken(token), now);
  return found?.email === email ? found.id : undefined;
}

/** For whoever signs in elsewhere: whose it is shows when they are back. */
export async function findInvitationByToken(
  db: Queryable,
  token: string,
  now: Date,
): Promise<InvitationId | undefined> {
  return (await queries.findInvitation(db, hashOpaqueToken(token), now))?.id;
}

/** For whoever has just confirmed their address: false where the invitation is gone meanwhile. */
export async function joinInvited(
  tx: Queryable,
  id: InvitationId,
  accountId: AccountId,
  email: string,
  now: Date,
): Promise<boolean> {
  try {
    await joinAs(tx, id, accountId, email, now);
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'invalid_invitation') return false;
    throw error;
  }
}

async function joinAs(tx: Queryable, id: InvitationId, accountId: AccountId, email: string, now: Date) {
  const taken = await queries.takeInvitation(tx, id, email, now);
  if (!taken) throw invalidInvitation();
  const { workspaceId, role, projects } = taken;
  if (!(await insertMember(tx, workspaceId, accountId, taken, now)))
    throw new Fault('already_member', 'You are a member of this workspace already.', {
      hint: 'Name it with the header `Slipway-Workspace`.',
    });
  return { workspaceId, role, projects: projects && [...projects] };
}

function invalidInvitation(): Fault {
  return new Fault(
    'invalid_invitation',
    'The invitation is unknown, expired, withdrawn or already accepted.',
    {
      hint: 'Ask whoever invited you for a new one.',
    },
  );
}

function show({ createdAt, expiresAt, projects, workspaceId: _, ...row }: queries.InvitationRow) {
  return {
    ...row,
    projects: projects && [...projects],
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
  };
}
