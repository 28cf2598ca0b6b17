/**
 * Takes an application out of service and leaves its services alone: visitors are told so with 503, what they asked for
 * is finished, then its containers stop. `putInService` brings it back.
 */
import type { Target } from '../../engine/engine.ts';
import { hasCrons, webProcess } from '../../engine/release-spec.ts';
import { frontOf } from '../domains/proxy-names.ts';
import type { EnvironmentState } from '../environments/environment-state.ts';
import { readRelease } from '../releases/stored-releases.ts';
import type { ReconcileContext } from './reconcile.ts';

export async function stopApp(
  ctx: ReconcileContext,
  target: Target,
  { currentReleaseId }: EnvironmentState,
): Promise<void> {
  const { placement } = target;
  if (currentReleaseId === null) return;
  const { run } = await readRelease(ctx.db, ctx.sealer, placement.workspaceId, currentReleaseId);
  await target.refuseRequests(await frontOf(ctx.db, placement, run, []));
  const found = await target.instances();
  const web = found.filter(({ process }) => process === webProcess).map(({ name }) => name);
  await target.drain(web, run.drainSeconds);
  if (hasCrons(run)) await target.removeCrons();
  await target.stopInstances(
    found.map(({ name }) => name),
    run.stopSeconds,
  );
}
