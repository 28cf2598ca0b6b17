/** A workspace for the dashboard's bench: a handful of environments, and what makes it large, on demand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { followDeployment } from '../src/areas/deployments/follow-deployment.ts';
import { insertDeployment } from '../src/areas/deployments/queries.ts';
import type { DeploymentEvent } from '../src/events/event-kinds.ts';
import { appendEvents } from '../src/events/events.ts';
import { type DeploymentId, type EnvironmentId, newId, type ServerId, type WorkspaceId } from '../src/ids.ts';
import { createLog } from '../src/log.ts';
import { connectDatabase, type Database } from '../src/store/database.ts';
import { sql } from '../src/store/sql.ts';
import { fillWorkspace } from '../test/support/many-environments.ts';
import { benchPerson, signIn } from './http.ts';
import { startService } from './service.ts';

const linesAtOnce = 5_000;
const first = 12;
const clock = { now: () => new Date() };

export interface DashboardScene {
  readonly url: string;
  readonly person: { readonly email: string; readonly password: string };
  /** So many events, each of which makes what a page shows untrue. */
  tell(events: number): Promise<void>;
  /** The first project, so that a page shows when it has heard everything before it. */
  rename(name: string): Promise<void>;
  /** The path of a deployment that has written so many lines. */
  logOf(lines: number): Promise<string>;
  /** Up to so many environments. */
  fill(environments: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startDashboardScene(): Promise<DashboardScene> {
  const service = await startService();
  const password = readFileSync(join(service.dataDir, 'postgres.password'), 'utf8');
  const host = join(service.dataDir, 'postgres');
  const db = connectDatabase({ host, user: 'slipway', password, database: 'postgres' }, createLog('silent'));
  const stop = async () => {
    await db.close();
    await service.stop();
  };
  try {
    const { token, accountId } = await signIn(service.url, service.dataDir, 1);
    const found = await db.one<{ id: WorkspaceId }>(sql`
      select workspace_id as id from memberships where account_id = ${accountId}`);
    if (!found) throw new Error('the account has no workspace');
    const workspaceId = found.id;
    await fillWorkspace(db, workspaceId, first);
    const place = await db.one<{ projectId: string; environmentId: EnvironmentId }>(sql`
      select project_id as "projectId", id as "environmentId" from environments
      where workspace_id = ${workspaceId} order by id limit 1`);
    if (!place) throw new Error('there is no environment');
    const { projectId, environmentId } = place;
    const event = { kind: 'project_updated', data: { projectId, environmentId, reason: 'bench' } };
    return {
      url: service.url,
      person: benchPerson,
      tell: (events) =>
        db.transaction((tx) =>
          appendEvents(
            tx,
            { workspaceId, feedId: workspaceId },
            Array.from({ length: events }, () => event),
          ),
        ),
      rename: async (name) => {
        const answer = await fetch(`${service.url}/api/v1/projects/${projectId}`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name }),
        });
        if (!answer.ok) throw new Error(`the project was not renamed: ${await answer.text()}`);
      },
      logOf: async (lines) => {
        const id = await tellLog(db, workspaceId, environmentId, lines);
        return `/environments/${environmentId}/deployments/${id}`;
      },
      fill: (environments) => fillWorkspace(db, workspaceId, environments),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function tellLog(
  db: Database,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  lines: number,
): Promise<DeploymentId> {
  const id = newId<DeploymentId>();
  const told = { deploymentId: id, environmentId };
  await db.transaction(async (tx) => {
    const none = { serverId: newId<ServerId>(), rollbackOf: null, requestedBy: null, uploadId: null };
    const row = { id, environmentId, trigger: 'push', wanted: { branch: 'main' }, ...none } as const;
    await insertDeployment(tx, workspaceId, row, clock.now());
    await followDeployment(tx, clock, workspaceId, told, { state: 'running', step: 'build' });
  });
  for (let from = 0; from < lines; from += linesAtOnce) {
    const batch = Array.from({ length: Math.min(linesAtOnce, lines - from) }, (_, at) => ({
      kind: 'log' as const,
      data: {
        step: 'build',
        line: `\x1b[32m${from + at + 1}\x1b[0m the line number ${from + at + 1} of the log, as long as such lines are`,
      },
    }));
    await db.transaction((tx) => appendEvents<DeploymentEvent>(tx, { workspaceId, feedId: id }, batch));
  }
  await db.transaction((tx) => followDeployment(tx, clock, workspaceId, told, { state: 'succeeded' }));
  return id;
}
