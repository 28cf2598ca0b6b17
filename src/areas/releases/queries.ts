/** The SQL of releases, always by workspace. */
import type { EnvironmentId, ReleaseId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { ReleasedCommit, RunPlan } from './releases.ts';

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

/** The newest images of an environment, each once: those that a rollback finds without a build. */
export function recentImages(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  most: number,
) {
  return db.rows<{ image: string }>(sql`
    select image from releases where workspace_id = ${workspaceId} and environment_id = ${environmentId}
    group by image order by max(created_at) desc limit ${most}`);
}
