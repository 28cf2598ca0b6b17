/** A new environment with its services, in the caller's transaction. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { createEnvironment, type NewEnvironment } from '../environments/create-environment.ts';
import { createServices } from '../services/create-services.ts';
import type { WantedService } from '../services/services.ts';

/** Undefined where the project has an environment of that name already. */
export async function makeEnvironment(
  tx: Queryable,
  sealer: Sealer,
  workspaceId: WorkspaceId,
  { services, ...environment }: NewEnvironment & { readonly services: readonly WantedService[] },
  now: Date,
): Promise<EnvironmentId | undefined> {
  const id = await createEnvironment(tx, sealer, workspaceId, environment, now);
  if (id !== undefined) await createServices(tx, workspaceId, id, services, now);
  return id;
}
