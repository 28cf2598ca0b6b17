/** The paths of workspaces, their members and invitations. */
import Type from 'typebox';
import { inWorkspace, type Routes } from '../../http/routes.ts';
import { idParams, PageQuery } from '../../http/schemas.ts';
import type { Scope } from '../../http/scope.ts';
import { apiPrefix } from '../../http/server.ts';
import type { WorkspaceId } from '../../ids.ts';
import { Page } from '../../page.ts';
import { acceptInvitation, invite, listInvitations, withdrawInvitation } from './invitations.ts';
import { changeWorkspace, createWorkspace, listWorkspaces, readWorkspace } from './manage-workspace.ts';
import { changeMember, listMembers, removeMember } from './members.ts';
import { startWorkspaceRemoval } from './remove-workspace.ts';
import * as schemas from './schemas.ts';
import type { Actor, WorkspacesContext } from './workspaces.ts';

const person = { kind: 'account' } as const;
const base = `${apiPrefix}/workspaces`;
const actorOf = ({ workspaceId, principal }: Scope): Actor => ({
  workspaceId,
  accountId: principal.accountId,
});

export function workspaceRoutes(routes: Routes, ctx: WorkspacesContext): void {
  const route = routes.tagged('Workspaces');
  route.get(base, {
    access: { ...person, tokens: true },
    schema: {
      operationId: 'listWorkspaces',
      summary: 'List the workspaces that you are in',
      querystring: PageQuery,
      response: { 200: schemas.WorkspacesAnswer },
    },
    handler: ({ principal, query }) => listWorkspaces(ctx.db, principal, new Page(query)),
  });

  route.post(base, {
    access: person,
    schema: {
      operationId: 'createWorkspace',
      summary: 'Make a workspace',
      description: 'You are its owner. Calls are about it when the header `Slipway-Workspace` names it.',
      body: schemas.NameBody,
      response: { 201: schemas.WorkspaceAnswer },
    },
    location: ({ id }) => `${base}/${id}`,
    handler: ({ principal, body }) => createWorkspace(ctx, principal, body.name),
  });

  route.get(`${base}/:id`, {
    access: inWorkspace.see,
    schema: {
      operationId: 'getWorkspace',
      summary: 'One workspace, with what you are in it',
      params: idParams<WorkspaceId>(),
      response: { 200: schemas.WorkspaceAnswer },
    },
    handler: ({ scope, principal }) => readWorkspace(ctx.db, scope.workspaceId, principal.accountId),
  });

  route.patch(`${base}/:id`, {
    access: { ...inWorkspace.manage, fresh: { requiresSecondFactor: [true, false] } },
    faults: ['no_second_factor'],
    schema: {
      operationId: 'updateWorkspace',
      summary: 'Rename a workspace, or require a second factor in it',
      description:
        'The second is for owners, who must have a second factor themselves. It holds at once: for members without one everything here is `second_factor_missing`, but the workspace itself and leaving it; so it is for API tokens that they made.',
      params: idParams<WorkspaceId>(),
      body: schemas.WorkspaceChangeBody,
      response: { 200: schemas.WorkspaceAnswer },
    },
    handler: ({ scope, body }) => changeWorkspace(ctx, scope.workspaceId, scope.principal, body),
  });

  route.delete(`${base}/:id`, {
    access: inWorkspace.own,
    faults: ['workspace_closing'],
    schema: {
      operationId: 'deleteWorkspace',
      summary: 'Delete a workspace with everything in it',
      description:
        'Its projects with all that runs of them, then its servers, then what it knows. From now on it takes no changes. Whoever asked for it sees the operation for a day after its end.',
      params: idParams<WorkspaceId>(),
      querystring: schemas.RemovalQuery,
      response: { 202: schemas.OperationAnswer },
    },
    location: ({ id }) => `${apiPrefix}/operations/${id}`,
    handler: async ({ scope, query: { deleteData, force = false } }) =>
      (await startWorkspaceRemoval(ctx, actorOf(scope), { deleteData, force })).body,
  });

  route.get(`${base}/:id/members`, {
    access: inWorkspace.read,
    schema: {
      operationId: 'listMembers',
      summary: 'List the members of a workspace',
      params: idParams<WorkspaceId>(),
      querystring: PageQuery,
      response: { 200: schemas.MembersAnswer },
    },
    handler: ({ scope, query }) => listMembers(ctx.db, scope.workspaceId, new Page(query)),
  });

  route.patch(`${base}/:id/members/:accountId`, {
    access: inWorkspace.appoint,
    faults: ['last_owner'],
    schema: {
      operationId: 'updateMember',
      summary: 'Change what a member is',
      description:
        'Holds at once: their streams end, their tokens can do no more than they. Ownership is passed on by making another member an `owner`, which takes an owner.',
      params: schemas.MemberParams,
      body: schemas.MemberBody,
      response: { 200: schemas.MemberAnswer },
    },
    handler: ({ scope, params, body }) => changeMember(ctx, actorOf(scope), params.accountId, body),
  });

  route.delete(`${base}/:id/members/:accountId`, {
    access: inWorkspace.leave,
    faults: ['last_owner'],
    schema: {
      operationId: 'deleteMember',
      summary: 'Leave a workspace, or remove a member',
      description:
        'Yourself, or with `manage` somebody else. Their tokens of this workspace go with them. The last owner stays.',
      params: schemas.MemberParams,
      response: { 204: Type.Null({ description: 'They are no member any more.' }) },
    },
    handler: ({ scope, params }) => removeMember(ctx, actorOf(scope), params.accountId),
  });

  route.get(`${base}/:id/invitations`, {
    access: inWorkspace.manage,
    schema: {
      operationId: 'listInvitations',
      summary: 'List the open invitations of a workspace',
      params: idParams<WorkspaceId>(),
      querystring: PageQuery,
      response: { 200: schemas.InvitationsAnswer },
    },
    handler: ({ scope, query }) => listInvitations(ctx, scope.workspaceId, new Page(query)),
  });

  route.post(`${base}/:id/invitations`, {
    access: inWorkspace.appoint,
    idempotent: true,
    signInLimit: 'mail',
    faults: ['already_member'],
    schema: {
      operationId: 'createInvitation',
      summary: 'Invite somebody by mail',
      description:
        'The link works once, for seven days, for this address alone, also where registration is closed. A second invitation of the same address replaces the first.',
      params: idParams<WorkspaceId>(),
      body: schemas.InvitationBody,
      response: { 201: schemas.InvitationAnswer },
    },
    handler: ({ scope, body: { projects = null, ...body }, saveResponse }) =>
      invite(ctx, actorOf(scope), { ...body, projects }, saveResponse),
  });

  route.delete(`${base}/:id/invitations/:invitationId`, {
    access: inWorkspace.manage,
    schema: {
      operationId: 'deleteInvitation',
      summary: 'Withdraw an invitation',
      params: schemas.InvitationParams,
      response: { 204: Type.Null({ description: 'Its link works no more.' }) },
    },
    handler: ({ scope, params }) => withdrawInvitation(ctx, actorOf(scope), params.invitationId),
  });

  route.post(`${apiPrefix}/invitations/accept`, {
    access: person,
    faults: ['invalid_invitation', 'already_member', 'forbidden'],
    schema: {
      operationId: 'acceptInvitation',
      summary: 'Accept an invitation',
      description:
        'With the account of the address that it was sent to. Whoever has none registers with `invitation`, and is a member once the address is confirmed.',
      body: schemas.AcceptBody,
      response: { 200: schemas.JoinedAnswer },
    },
    handler: ({ principal, body }) => acceptInvitation(ctx, principal.accountId, body.token),
  });
}
