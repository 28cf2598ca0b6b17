/** How the application reaches a service, for whoever may read secrets. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId, ServiceId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { requireEnvironment } from '../environments/environment-state.ts';
import { openService } from './credentials.ts';
import { kinds } from './kinds/kinds.ts';
import * as queries from './queries.ts';
import type { ServicesContext } from './services.ts';

export async function readCredentials(
  { db, sealer }: Pick<ServicesContext, 'db' | 'sealer'>,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: ServiceId,
) {
  const row = await requireService(db, workspaceId, environmentId, id);
  if (row.credentialsSealed === null) throw notStarted(row);
  const { credentials, kind, name } = await openService(db, sealer, workspaceId, row);
  return { id, kind, name, url: kinds[kind].url(name, credentials).reveal() };
}

/** One that is wanted. */
export async function requireService(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: ServiceId,
): Promise<queries.ServiceRow> {
  await requireEnvironment(db, workspaceId, environmentId);
  const rows = await queries.listServices(db, workspaceId, [environmentId]);
  const found = rows.find((each) => each.id === id && each.removedAt === null);
  if (!found) throw new Fault('not_found', 'There is no such service, or it is not yours.');
  return found;
}

export function notStarted({ name }: Pick<queries.ServiceRow, 'name'>): Fault {
  return new Fault('server_not_linked', `The service ${name} has not been started on a server yet.`, {
    hint: 'It starts with the first deployment of the environment.',
  });
}
