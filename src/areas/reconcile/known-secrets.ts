/**
 * Every secret that a container of an environment may know: of the release that runs, of one that is coming, and of the
 * services. A password is one by itself: what prints it need not print the URL that the application gets.
 */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import type { Database } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { openVariables } from '../environments/variables/open-variables.ts';
import { readRelease } from '../releases/stored-releases.ts';
import { openServices } from '../services/credentials.ts';
import { serviceVariables } from '../services/service-variables.ts';

export async function knownSecrets(
  ctx: { readonly db: Database; readonly sealer: Sealer },
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
): Promise<Secret[]> {
  const environment = await readEnvironmentState(ctx.db, workspaceId, environmentId);
  const releaseId = environment?.currentReleaseId ?? null;
  const released = releaseId && (await readRelease(ctx.db, ctx.sealer, workspaceId, releaseId)).variables;
  const own = await openVariables(ctx.db, ctx.sealer, workspaceId, environmentId);
  const [brought, services] = await ctx.db.transaction(async (tx) => [
    await serviceVariables(tx, ctx.sealer, workspaceId, environmentId),
    await openServices(tx, ctx.sealer, workspaceId, environmentId),
  ]);
  const plain = new Set(own.filter(({ isSecret }) => !isSecret).map(({ key }) => key));
  const old = [...(released || [])].filter(([key]) => !plain.has(key)).map(([, value]) => value);
  const passwords = services.flatMap(({ credentials: { password, adminPassword } }) => [
    password,
    adminPassword,
  ]);
  const secret = own.filter(({ isSecret }) => isSecret).map(({ value }) => value);
  return [...old, ...secret, ...brought.values(), ...passwords];
}
