/** Deployments that a test tells step by step, written as the operation itself writes them: what it shows is real. */
import { followDeployment } from '../../src/areas/deployments/follow-deployment.ts';
import { insertDeployment } from '../../src/areas/deployments/queries.ts';
import type { DeploymentEvent } from '../../src/events/event-kinds.ts';
import { appendEvents } from '../../src/events/events.ts';
import { type DeploymentId, newId, type ServerId } from '../../src/ids.ts';
import type { StateChange } from '../../src/operations/definition.ts';
import { sql } from '../../src/store/sql.ts';
import type { EnvironmentScene } from './environments.ts';

export interface DeploymentStory {
  readonly id: DeploymentId;
  step(name: string): Promise<void>;
  lines(step: string, ...lines: readonly string[]): Promise<void>;
  end(change: StateChange): Promise<void>;
}

export interface ToldCommit {
  readonly sha: string;
  readonly message: string;
  readonly author: string;
  readonly branch: string;
}

export async function tellDeployment(
  { service, workspaceId, environmentId }: EnvironmentScene,
  serverId: string,
  commit: ToldCommit,
): Promise<DeploymentStory> {
  const { db } = service.app.store;
  const { clock } = service;
  const id = newId<DeploymentId>();
  const row = { id, environmentId, trigger: 'push', wanted: { branch: commit.branch } } as const;
  await db.transaction(async (tx) => {
    const made = {
      ...row,
      serverId: serverId as ServerId,
      rollbackOf: null,
      requestedBy: null,
      uploadId: null,
    };
    await insertDeployment(tx, workspaceId, made, clock.now());
    await tx.run(sql`update deployments set commit = ${JSON.stringify(commit)}::jsonb where id = ${id}`);
  });
  const follow = (change: StateChange) =>
    db.transaction((tx) =>
      followDeployment(tx, clock, workspaceId, { deploymentId: id, environmentId }, change),
    );
  return {
    id,
    step: (step) => follow({ state: 'running', step }),
    lines: (step, ...lines) =>
      db.transaction((tx) =>
        appendEvents<DeploymentEvent>(
          tx,
          { workspaceId, feedId: id },
          lines.map((line) => ({ kind: 'log', data: { step, line } })),
        ),
      ),
    end: follow,
  };
}
