/** A workspace with many environments. */
import type { WorkspaceId } from '../../src/ids.ts';
import type { Database } from '../../src/store/database.ts';
import { sql } from '../../src/store/sql.ts';

const environmentsOfProject = 4;

/** As rows: nothing of them is ever due. */
export async function fillWorkspace(
  db: Database,
  workspaceId: WorkspaceId,
  environments: number,
): Promise<void> {
  const projects = Math.ceil(environments / environmentsOfProject);
  await db.transaction(async (tx) => {
    await tx.run(sql`
      insert into projects (workspace_id, id, name, slug, repository_kind, full_name, clone_url, branch, root_directory,
        status, analysis_status, analysis_id, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), 'Project ' || n, 'project-' || n, 'url', 'org/project-' || n,
        'https://git.example/org/project-' || n || '.git', 'main', '', 'active', 'succeeded', gen_random_uuid(), now(),
        now()
      from generate_series(1, ${projects}::int) n on conflict do nothing`);
    await tx.run(sql`
      insert into environments (workspace_id, id, project_id, name, slug, branch, auto_deploy, settings, poll_at, status,
        look_at, created_at, updated_at)
      select p.workspace_id, gen_random_uuid(), p.id, 'environment-' || n, p.slug || '-' || n, 'main', true, '{}',
        timestamptz '2100-01-01', 'running', timestamptz '2100-01-01', now(), now()
      from projects p, generate_series(1, ${environmentsOfProject}::int) n
      where p.workspace_id = ${workspaceId} on conflict do nothing`);
  });
}
