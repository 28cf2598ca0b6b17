/**
 * Keeps the newest deployments of each environment, and takes older ones away with their releases. Whatever their
 * number, what is live stays, and so does what can be gone back to without a build, and what a kept one went back to.
 */
import type { DeploymentId } from '../../ids.ts';
import type { Schedule } from '../../operations/queue.ts';
import type { Database, Queryable } from '../../store/database.ts';
import { maxRunMs } from '../../store/in-batches.ts';
import { type EnvironmentState, tryLockEnvironment } from '../environments/environment-state.ts';
import { deleteReleases, imagesByRelease, keptImages } from '../releases/stored-releases.ts';
import * as queries from './prune-queries.ts';
import { listUnfinished } from './queries.ts';

const firstId = '00000000-0000-0000-0000-000000000000';

export function pruneDeploymentsSchedule(db: Database, keep: number): Schedule {
  return {
    name: 'prune-deployments',
    cron: '37 * * * *',
    timezone: 'UTC',
    run: async () => {
      await pruneDeployments(db, keep);
    },
  };
}

export async function pruneDeployments(db: Database, keep: number): Promise<number> {
  const end = performance.now() + maxRunMs;
  let total = 0;
  let after: string | undefined = firstId;
  while (after !== undefined && performance.now() < end) {
    const environments: queries.CrowdedEnvironment[] = await queries.listEnvironmentsAfter(db, after, keep);
    for (const each of environments) total += await pruneEnvironment(db, each);
    after = environments.at(-1)?.environmentId;
  }
  return total;
}

async function pruneEnvironment(db: Database, crowded: queries.CrowdedEnvironment): Promise<number> {
  const { beyond } = crowded;
  if (beyond === null) return 0;
  let total = 0;
  for (;;) {
    const count = await db.transaction((tx) => pruneSome(tx, crowded, beyond));
    if (count === 0) return total;
    total += count;
  }
}

async function pruneSome(
  tx: Queryable,
  crowded: queries.CrowdedEnvironment,
  beyond: number,
): Promise<number> {
  const { workspaceId, environmentId } = crowded;
  const environment = await tryLockEnvironment(tx, workspaceId, environmentId);
  // One that is at work still needs the release before it, whichever that was: another time.
  const isBusy = !environment || (await listUnfinished(tx, workspaceId, environmentId)).length > 0;
  if (isBusy) return 0;
  const except = [
    ...(await neededByEnvironment(tx, crowded, environment)),
    ...(await queries.listRolledBackTo(tx, crowded, beyond)),
  ];
  const gone = await queries.deleteDeployments(tx, crowded, beyond, except);
  const releases = gone.flatMap(({ releaseId }) => releaseId ?? []);
  const inUse = await queries.listReleasesInUse(tx, crowded, releases);
  const unused = releases.filter((id) => !inUse.has(id) && id !== environment.currentReleaseId);
  await deleteReleases(tx, workspaceId, unused);
  return gone.length;
}

/** What is live, and the newest deployment of each image that is kept on the server. */
async function neededByEnvironment(
  tx: Queryable,
  { workspaceId, environmentId }: queries.CrowdedEnvironment,
  { currentDeploymentId }: EnvironmentState,
): Promise<DeploymentId[]> {
  const live = await queries.listLive(tx, workspaceId, environmentId);
  const images = await imagesByRelease(
    tx,
    workspaceId,
    live.map(({ releaseId }) => releaseId),
  );
  const newestOf = new Map<string, DeploymentId>();
  for (const { id, releaseId } of live) {
    const image = images.get(releaseId);
    if (image !== undefined && !newestOf.has(image)) newestOf.set(image, id);
  }
  const needed = [...newestOf.values()].slice(0, keptImages);
  return currentDeploymentId === null ? needed : [...needed, currentDeploymentId];
}
