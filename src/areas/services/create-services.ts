/** The first services of a new environment, in the transaction that makes it. They start with its first deployment. */
import type { EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import type { WantedService } from '../environments/hooks.ts';
import { decideServices } from './decide-services.ts';
import * as queries from './queries.ts';
import { readServicesInput } from './services-input.ts';

export async function createServices(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  wanted: readonly WantedService[],
  now: Date,
): Promise<void> {
  for (const service of decideServices([], readServicesInput(wanted)).added)
    await queries.insertService(tx, workspaceId, environmentId, service, now);
}
