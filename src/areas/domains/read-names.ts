/** Names of environments as the API answers with them. */
import { Fault } from '../../fault.ts';
import type { EnvironmentDomainId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { environmentNotFound } from '../environments/environments.ts';
import { listNames, type NameRow } from './name-queries.ts';
import { hasCertificate, servingName } from './proxy-names.ts';

export type NameView = ReturnType<typeof viewOf>;

export async function namesOfEnvironments(
  db: Queryable,
  workspaceId: WorkspaceId,
  ids: readonly EnvironmentId[],
): Promise<ReadonlyMap<EnvironmentId, NameView[]>> {
  const rows = ids.length === 0 ? [] : await listNames(db, workspaceId, ids);
  const grouped = Map.groupBy(rows, ({ environmentId }) => environmentId);
  return new Map([...grouped].map(([id, each]) => [id, each.map(viewOf)]));
}

export async function listNamesOf(db: Queryable, workspaceId: WorkspaceId, id: EnvironmentId) {
  if (!(await readEnvironmentState(db, workspaceId, id))) throw environmentNotFound();
  return { items: (await listNames(db, workspaceId, [id])).map(viewOf) };
}

export async function readName(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  id: EnvironmentDomainId,
): Promise<NameView> {
  const found = (await listNames(db, workspaceId, [environmentId])).find((each) => each.id === id);
  if (!found)
    throw new Fault('not_found', 'The environment has no such domain.', {
      hint: 'GET /environments/:id/domains lists those that it has.',
    });
  return viewOf(found);
}

function viewOf(row: NameRow) {
  const { id, environmentId, domainId, hostname, redirectHttp, www, hstsSeconds, sslMode } = row;
  const status =
    row.certificateId === null ? ('none' as const) : (row.certificateStatus ?? ('none' as const));
  return {
    id,
    environmentId,
    domainId,
    hostname,
    redirectHttp,
    www,
    hstsSeconds,
    url: `${hasCertificate(row) ? 'https' : 'http'}://${servingName(row)}`,
    ssl: { mode: sslMode },
    certificate: {
      status,
      issuer: row.issuer,
      fault: row.fault,
      notAfter: row.notAfter?.toISOString() ?? null,
    },
    createdAt: row.createdAt.toISOString(),
  };
}
