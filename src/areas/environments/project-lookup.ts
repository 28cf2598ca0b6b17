/** Which project a thing belongs to, for those who are limited to some projects of a workspace. */
import type { ProjectId, ServerId, WorkspaceId } from '../../ids.ts';
import type { Database } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';

export function projectLookup(db: Database) {
  return {
    async projectOf(workspaceId: WorkspaceId, type: string, id: string): Promise<ProjectId | undefined> {
      const row = await db.one<{ projectId: ProjectId | null }>(sql`
        select project_of(${workspaceId}, ${type}, ${id}) as "projectId"`);
      return row?.projectId ?? undefined;
    },
    isServerOf(workspaceId: WorkspaceId, projects: readonly ProjectId[], id: ServerId): Promise<boolean> {
      return db.exists(sql`
        select 1 from environments
        where workspace_id = ${workspaceId} and server_id = ${id} and project_id = any(${projects}::uuid[])`);
    },
  };
}
