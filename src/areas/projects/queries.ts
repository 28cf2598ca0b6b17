/** The SQL of projects, always by workspace. */
import type { AnalysisResult } from '../../analysis/result.ts';
import type { AnalysisId, GitProviderId, OperationId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { OperationFault } from '../../operations/operations.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { RepositoryKind } from './projects.ts';

export type AnalysisStatus = 'queued' | 'fetching' | 'analyzing' | 'succeeded' | 'failed';
export type ProjectStatus = 'draft' | 'analyzing' | 'ready' | 'active' | 'failed';

export interface AnalysedCommit {
  readonly sha: string;
  readonly message: string;
  readonly author: string;
  readonly authoredAt: string;
  readonly branch: string;
}

export interface ProjectRow {
  readonly id: ProjectId;
  readonly name: string;
  readonly slug: string;
  readonly providerId: GitProviderId | null;
  readonly repositoryKind: RepositoryKind;
  readonly repositoryId: string | null;
  readonly fullName: string;
  readonly cloneUrl: string;
  readonly webUrl: string | null;
  readonly deployPublicKey: string | null;
  readonly branch: string | null;
  readonly rootDirectory: string;
  readonly status: ProjectStatus;
  /** Null only before the first analysis is stored, in the same transaction. */
  readonly analysisId: AnalysisId | null;
  readonly analysisStatus: AnalysisStatus;
  readonly analysisOperation: OperationId | null;
  readonly analysisCommit: AnalysedCommit | null;
  readonly analysisFault: OperationFault | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewProject {
  readonly id: ProjectId;
  readonly name: string;
  readonly slug: string;
  readonly providerId: GitProviderId | null;
  readonly repositoryKind: RepositoryKind;
  readonly repositoryId: string | null;
  readonly fullName: string;
  readonly cloneUrl: string;
  readonly webUrl: string | null;
  readonly deployKeySealed: Buffer | null;
  readonly deployPublicKey: string | null;
  readonly branch: string | null;
  readonly rootDirectory: string;
}

/** False where the name or the slug is taken. */
export async function insertProject(
  tx: Queryable,
  workspaceId: WorkspaceId,
  project: NewProject,
  now: Date,
): Promise<boolean> {
  const { id, name, slug, providerId, repositoryKind, repositoryId, fullName, cloneUrl, webUrl } = project;
  const { deployKeySealed, deployPublicKey, branch, rootDirectory } = project;
  const made = await tx.run(sql`
    insert into projects (workspace_id, id, name, slug, provider_id, repository_kind, repository_id, full_name,
      clone_url, web_url, deploy_key_sealed, deploy_public_key, branch, root_directory, status, analysis_status,
      created_at, updated_at)
    values (${workspaceId}, ${id}, ${name}, ${slug}, ${providerId}, ${repositoryKind}, ${repositoryId}, ${fullName},
      ${cloneUrl}, ${webUrl}, ${deployKeySealed}, ${deployPublicKey}, ${branch}, ${rootDirectory}, 'draft', 'queued',
      ${now}, ${now})
    on conflict do nothing`);
  return made === 1;
}

export async function findProject(
  db: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
): Promise<(ProjectRow & { readonly analysisResult: AnalysisResult | null }) | undefined> {
  return db.one(sql`
    select id, name, slug, provider_id as "providerId", repository_kind as "repositoryKind",
      repository_id as "repositoryId", full_name as "fullName", clone_url as "cloneUrl", web_url as "webUrl",
      deploy_public_key as "deployPublicKey", branch, root_directory as "rootDirectory", status,
      analysis_id as "analysisId", analysis_status as "analysisStatus",
      analysis_operation as "analysisOperation", analysis_commit as "analysisCommit",
      analysis_result as "analysisResult", analysis_fault as "analysisFault", created_at as "createdAt",
      updated_at as "updatedAt"
    from projects where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Without the results: a page of them could be megabytes. */
/** All, or of these. */
export function listProjects(
  db: Queryable,
  workspaceId: WorkspaceId,
  projects: readonly ProjectId[] | null,
  page: { before: string; limit: number },
) {
  return db.rows<ProjectRow>(sql`
    select id, name, slug, provider_id as "providerId", repository_kind as "repositoryKind",
      repository_id as "repositoryId", full_name as "fullName", clone_url as "cloneUrl", web_url as "webUrl",
      deploy_public_key as "deployPublicKey", branch, root_directory as "rootDirectory", status,
      analysis_id as "analysisId", analysis_status as "analysisStatus",
      analysis_operation as "analysisOperation", analysis_commit as "analysisCommit",
      analysis_fault as "analysisFault", created_at as "createdAt", updated_at as "updatedAt"
    from projects
    where workspace_id = ${workspaceId} and (${projects}::uuid[] is null or id = any(${projects}::uuid[]))
      and id < ${page.before}::uuid
    order by id desc
    limit ${page.limit}`);
}

export function lockUsing(tx: Queryable, workspaceId: WorkspaceId, providerId: GitProviderId) {
  return tx.rows<{ id: ProjectId; name: string }>(sql`
    select id, name from projects
    where workspace_id = ${workspaceId} and provider_id = ${providerId} order by id for no key update`);
}

export interface SourceRow {
  readonly cloneUrl: string;
  readonly providerId: GitProviderId | null;
  readonly repositoryKind: RepositoryKind;
  readonly fullName: string;
  readonly repositoryId: string | null;
  readonly deployKeySealed: Buffer | null;
  readonly branch: string | null;
  readonly rootDirectory: string;
}

export function findSource(db: Queryable, workspaceId: WorkspaceId, id: ProjectId) {
  return db.one<SourceRow>(sql`
    select clone_url as "cloneUrl", provider_id as "providerId", repository_kind as "repositoryKind",
      full_name as "fullName", repository_id as "repositoryId", deploy_key_sealed as "deployKeySealed", branch,
      root_directory as "rootDirectory"
    from projects where workspace_id = ${workspaceId} and id = ${id}`);
}

export function lockProject(tx: Queryable, workspaceId: WorkspaceId, id: ProjectId) {
  return tx.one<{ id: ProjectId; status: ProjectStatus }>(sql`
    select id, status from projects where workspace_id = ${workspaceId} and id = ${id} for update`);
}

export async function isNameTaken(
  db: Queryable,
  workspaceId: WorkspaceId,
  name: string,
  except: ProjectId,
): Promise<boolean> {
  const other = await db.one(sql`
    select 1 from projects
    where workspace_id = ${workspaceId} and lower(name) = lower(${name}) and id <> ${except}`);
  return other !== undefined;
}

export interface ProjectChange {
  readonly name: string;
  readonly branch: string | null;
  readonly rootDirectory: string;
}

export function updateProject(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  { name, branch, rootDirectory }: ProjectChange,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update projects set name = ${name}, branch = ${branch}, root_directory = ${rootDirectory}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setActive(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: ProjectId,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update projects set status = 'active', updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

/** Where repositories are read from, in all workspaces: what no project reads any more need not be kept. */
export function listCloneUrls(db: Queryable) {
  return db.rows<{ workspaceId: WorkspaceId; cloneUrl: string }>(sql`
    select distinct workspace_id as "workspaceId", clone_url as "cloneUrl" from projects`);
}

export function deleteProject(tx: Queryable, workspaceId: WorkspaceId, id: ProjectId): Promise<number> {
  return tx.run(sql`delete from projects where workspace_id = ${workspaceId} and id = ${id}`);
}
