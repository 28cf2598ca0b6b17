/** What goes over the wire in this area. */
import Type from 'typebox';
import { closed, Id, idOf, nullable, oneLine, Time } from '../../http/schemas.ts';
import type { AccountId, InvitationId, ProjectId, WorkspaceId } from '../../ids.ts';
import { roles } from '../../principal.ts';
import { Email } from '../accounts/schemas.ts';
import { OperationAnswer } from '../operations/schemas.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: oneLine,
  examples: ['Shop team'],
});
const Role = Type.Enum(roles, {
  description:
    'A `viewer` looks; a `member` deploys and changes, too; an `admin` also manages servers, accounts and members; an `owner` also owners, and the end of the workspace.',
  examples: ['member'],
});

const Projects = Type.Array(
  Type.Object(
    {
      projectId: idOf<ProjectId>(),
      role: Type.Enum(['admin', 'member', 'viewer'], { description: 'What they are in it.' }),
    },
    closed,
  ),
  {
    maxItems: 100,
    description:
      'The only projects there are for them. For members and viewers; null is all of the workspace.',
    examples: [[{ projectId: '01990a1b-2c3d-7e4f-8a5b-6c7d8e9f0a1b', role: 'member' }]],
  },
);

export const NameBody = Type.Object({ name: Name }, { ...closed, title: 'WorkspaceRequest' });

const RequiresSecondFactor = Type.Boolean({
  description:
    'Whether there is nothing here for members without a second factor, and for their API tokens, until they have one.',
  examples: [true],
});

export const WorkspaceChangeBody = Type.Object(
  { name: Type.Optional(Name), requiresSecondFactor: Type.Optional(RequiresSecondFactor) },
  { ...closed, title: 'WorkspaceChange', minProperties: 1 },
);

export const MemberBody = Type.Object(
  { role: Type.Optional(Role), projects: Type.Optional(nullable(Projects)) },
  { ...closed, title: 'MemberChange', minProperties: 1 },
);

export const InvitationBody = Type.Object(
  { email: Email, role: Role, projects: Type.Optional(nullable(Projects)) },
  { ...closed, title: 'InvitationRequest' },
);

export const AcceptBody = Type.Object(
  {
    token: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'From the link in the mail.',
      examples: ['invitation_q1Zb…'],
    }),
  },
  { ...closed, title: 'AcceptInvitationRequest' },
);

export const RemovalQuery = Type.Object(
  {
    deleteData: Type.Boolean({
      description: 'Whether the data on its servers goes with it, or its volumes are left there.',
    }),
    force: Type.Optional(
      Type.Boolean({ description: 'Does not wait for servers that are gone: what is on them stays there.' }),
    ),
  },
  closed,
);

export const MemberParams = Type.Object({ id: idOf<WorkspaceId>(), accountId: idOf<AccountId>() }, closed);
export const InvitationParams = Type.Object(
  { id: idOf<WorkspaceId>(), invitationId: idOf<InvitationId>() },
  closed,
);

export const WorkspaceAnswer = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['Shop team'] }),
    role: Role,
    projects: nullable(Projects),
    requiresSecondFactor: RequiresSecondFactor,
    status: Type.Enum(['active', 'removing', 'removed']),
    createdAt: Time,
  },
  { title: 'Workspace', description: 'With what you are in it.' },
);

export const MemberAnswer = Type.Object(
  {
    account: Type.Object({
      id: Id,
      email: Type.String({ examples: ['grace@example.com'] }),
      name: nullable(Type.String({ examples: ['Grace Hopper'] })),
    }),
    role: Role,
    projects: nullable(Projects),
    secondFactor: Type.Boolean({ description: 'Whether the account has one.' }),
    joinedAt: Time,
  },
  { title: 'Member' },
);

export const InvitationAnswer = Type.Object(
  {
    id: Id,
    email: Type.String({ examples: ['grace@example.com'] }),
    role: Role,
    projects: nullable(Projects),
    invitedBy: nullable(Id),
    expiresAt: Time,
    createdAt: Time,
  },
  { title: 'Invitation' },
);

export const JoinedAnswer = Type.Object(
  { workspaceId: Id, role: Role, projects: nullable(Projects) },
  { title: 'JoinedWorkspace' },
);

const pageOf = <T extends Type.TSchema>(items: T, title: string) =>
  Type.Object({ items: Type.Array(items), nextCursor: nullable(Type.String()) }, { title });

export const WorkspacesAnswer = pageOf(WorkspaceAnswer, 'WorkspacePage');
export const MembersAnswer = pageOf(MemberAnswer, 'MemberPage');
export const InvitationsAnswer = pageOf(InvitationAnswer, 'InvitationPage');
export { OperationAnswer };
