/** The SQL of workspaces and their members. */
import type { AccountId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Place, ProjectRole, Role } from '../../principal.ts';
import type { Queryable } from '../../store/database.ts';
import { fragment, sql } from '../../store/sql.ts';

export interface WorkspaceRow extends Place {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly closing: boolean;
  readonly removedAt: Date | null;
  readonly requiresSecondFactor: boolean;
  readonly createdAt: Date;
}

const projectsJson = fragment`case when m.limited then (
  select coalesce(json_agg(json_build_object('projectId', p.project_id, 'role', p.role) order by p.project_id), '[]')
  from member_projects p where p.workspace_id = m.workspace_id and p.account_id = m.account_id) end as projects`;
const workspaceColumns = fragment`w.id, w.name, m.role, ${projectsJson}, m.closing, w.removed_at as "removedAt",
  w.requires_second_factor as "requiresSecondFactor", w.created_at as "createdAt"`;

/** Those of an account, the newest first. */
export function listWorkspaces(
  db: Queryable,
  accountId: AccountId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<WorkspaceRow>(sql`
    select ${workspaceColumns} from memberships m join workspaces w on w.id = m.workspace_id
    where m.account_id = ${accountId} and w.removed_at is null and w.id < ${page.before}::uuid
    order by w.id desc limit ${page.limit}`);
}

export function findWorkspace(db: Queryable, id: WorkspaceId, accountId: AccountId) {
  return db.one<WorkspaceRow>(sql`
    select ${workspaceColumns} from memberships m join workspaces w on w.id = m.workspace_id
    where m.account_id = ${accountId} and m.workspace_id = ${id}`);
}

export function setName(tx: Queryable, id: WorkspaceId, name: string) {
  return tx.run(sql`update workspaces set name = ${name} where id = ${id}`);
}

/** With each membership, too: that is where a request looks. */
export async function setRequiresSecondFactor(
  tx: Queryable,
  id: WorkspaceId,
  required: boolean,
): Promise<void> {
  await tx.run(sql`update workspaces set requires_second_factor = ${required} where id = ${id}`);
  await tx.run(sql`
    update memberships set requires_second_factor = ${required}
    where workspace_id = ${id} and requires_second_factor <> ${required}`);
}

export function hasSecondFactor(db: Queryable, id: AccountId): Promise<boolean> {
  return db.exists(sql`select 1 from accounts where id = ${id} and second_factor`);
}

/** Not so strongly that what refers to it would have to wait. */
export function lockWorkspace(tx: Queryable, id: WorkspaceId) {
  return tx.run(sql`select 1 from workspaces where id = ${id} for no key update`);
}

export interface MemberRow extends Place {
  /** Of the account: lists are ordered by it. */
  readonly id: AccountId;
  readonly email: string;
  readonly name: string | null;
  readonly secondFactor: boolean;
  readonly joinedAt: Date;
}

const memberColumns = fragment`a.id, a.email, a.name, a.second_factor as "secondFactor", m.role, ${projectsJson}, m.created_at as "joinedAt"`;

export function findMember(db: Queryable, workspaceId: WorkspaceId, accountId: AccountId) {
  return db.one<MemberRow>(sql`
    select ${memberColumns} from memberships m join accounts a on a.id = m.account_id
    where m.workspace_id = ${workspaceId} and m.account_id = ${accountId}`);
}

export function listMembers(
  db: Queryable,
  workspaceId: WorkspaceId,
  page: { readonly before: string; readonly limit: number },
) {
  return db.rows<MemberRow>(sql`
    select ${memberColumns} from memberships m join accounts a on a.id = m.account_id
    where m.workspace_id = ${workspaceId} and m.account_id < ${page.before}::uuid
    order by m.account_id desc limit ${page.limit}`);
}

export async function hasOtherOwner(tx: Queryable, workspaceId: WorkspaceId, accountId: AccountId) {
  return tx.exists(sql`
    select 1 from memberships
    where workspace_id = ${workspaceId} and role = 'owner' and account_id <> ${accountId} limit 1`);
}

export function isMemberEmail(tx: Queryable, workspaceId: WorkspaceId, email: string): Promise<boolean> {
  return tx.exists(sql`
    select 1 from accounts a join memberships m on m.account_id = a.id and m.workspace_id = ${workspaceId}
    where a.email = ${email}`);
}

/** False where the account is a member already. */
export async function insertMember(
  tx: Queryable,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  { role, projects }: Place,
  now: Date,
): Promise<boolean> {
  // Held until the transaction ends: what the workspace requires now, it requires of this member, too.
  const made = await tx.run(sql`
    insert into memberships (workspace_id, account_id, role, limited, requires_second_factor, created_at)
    select id, ${accountId}, ${role}, ${projects !== null}, requires_second_factor, ${now} from workspaces
    where id = ${workspaceId} for share
    on conflict do nothing`);
  if (made > 0) await replaceProjects(tx, workspaceId, accountId, projects ?? []);
  return made > 0;
}

/** By hand: groups do not touch it from now on. */
export async function setPlace(
  tx: Queryable,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  { role, projects }: Place,
): Promise<void> {
  await tx.run(sql`
    update memberships set role = ${role}, limited = ${projects !== null}, from_groups = false
    where workspace_id = ${workspaceId} and account_id = ${accountId}`);
  await replaceProjects(tx, workspaceId, accountId, projects ?? []);
}

/** A project that is gone since an invitation was sent is left out. */
async function replaceProjects(
  tx: Queryable,
  workspaceId: WorkspaceId,
  accountId: AccountId,
  projects: readonly ProjectRole[],
): Promise<void> {
  await tx.run(sql`
    delete from member_projects where workspace_id = ${workspaceId} and account_id = ${accountId}`);
  const ids = projects.map(({ projectId }) => projectId);
  const roles: Role[] = projects.map(({ role }) => role);
  await tx.run(sql`
    insert into member_projects (workspace_id, account_id, project_id, role)
    select ${workspaceId}, ${accountId}, p.id, given.role
    from unnest(${ids}::uuid[], ${roles}::text[]) as given (id, role)
    join projects p on p.workspace_id = ${workspaceId} and p.id = given.id`);
}

export function deleteMember(tx: Queryable, workspaceId: WorkspaceId, accountId: AccountId) {
  return tx.run(sql`
    delete from memberships where workspace_id = ${workspaceId} and account_id = ${accountId}`);
}

export async function findProjectIds(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly ProjectId[],
): Promise<ReadonlySet<ProjectId>> {
  const rows = await db.rows<{ id: ProjectId }>(sql`
    select id from projects where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`);
  return new Set(rows.map(({ id }) => id));
}

export function findAccount(db: Queryable, email: string) {
  return db.one<{ id: AccountId }>(sql`select id from accounts where email = ${email}`);
}

export function isWorkspace(db: Queryable, id: WorkspaceId): Promise<boolean> {
  return db.exists(sql`select 1 from workspaces where id = ${id} and removed_at is null`);
}

export function setOperator(tx: Queryable, id: AccountId) {
  return tx.run(sql`update accounts set operator = true where id = ${id}`);
}

export interface OwnedWorkspace {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly owners: readonly string[];
}

/** Those after this id, with the addresses of their owners. */
export function listOwned(db: Queryable, after: string, limit: number) {
  return db.rows<OwnedWorkspace>(sql`
    select w.id, w.name, array(
      select a.email from memberships m join accounts a on a.id = m.account_id
      where m.workspace_id = w.id and m.role = 'owner' order by m.created_at) as owners
    from workspaces w where w.removed_at is null and w.id > ${after}::uuid
    order by w.id limit ${limit}`);
}
