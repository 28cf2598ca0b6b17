/** The SQL of releases, always by workspace. */
import type { RunPlan } from '../../engine/release-spec.ts';
import type { EnvironmentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ReleasedCommit } from './releases.ts';

export interface ReleaseRow {
  readonly id: ReleaseId;
  readonly environmentId: EnvironmentId;
  readonly image: string;
  readonly imageDigest: string;
  readonly buildKey: string;
  readonly commit: ReleasedCommit;
  readonly run: RunPlan;
  readonly variablesSealed: Buffer;
}

export function findRelease(db: Queryable, workspaceId: WorkspaceId, id: ReleaseId) {
  return db.one<ReleaseRow>(sql`
    select id, environment_id as "environmentId", image, image_digest as "imageDigest", build_key as "buildKey",
      commit, run, variables_sealed as "variablesSealed"
    from releases where workspace_id = ${workspaceId} and id = ${id}`);
}

export function insertRelease(tx: Queryable, workspaceId: WorkspaceId, release: ReleaseRow, now: Date) {
  const { id, environmentId, image, imageDigest, buildKey, commit, run, variablesSealed } = release;
  return tx.run(sql`
    insert into releases (workspace_id, id, environment_id, image, image_digest, build_key, commit, run,
      variables_sealed, created_at)
    values (${workspaceId}, ${id}, ${environmentId}, ${image}, ${imageDigest}, ${buildKey},
      ${JSON.stringify(commit)}::jsonb, ${JSON.stringify(run)}::jsonb, ${variablesSealed}, ${now})`);
}

export function imagesOf(db: Queryable, workspaceId: WorkspaceId, ids: readonly ReleaseId[]) {
  return db.rows<{ id: ReleaseId; image: string }>(sql`
    select id, image from releases where workspace_id = ${workspaceId} and id = any(${[...ids]}::uuid[])`);
}

export function runsOf(db: Queryable, workspaceId: WorkspaceId, ids: readonly ReleaseId[]) {
  return db.rows<{ id: ReleaseId; run: RunPlan }>(sql`
    select id, run from releases where workspace_id = ${workspaceId} and id = any(${[...ids]}::uuid[])`);
}

export function deleteReleases(tx: Queryable, workspaceId: WorkspaceId, ids: readonly ReleaseId[]) {
  return tx.run(sql`delete from releases where workspace_id = ${workspaceId} and id = any(${ids}::uuid[])`);
}
