/** Which connectors are notified of a project, and of which events. */
import type { NoticeKind } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import type { ConnectorId, ProjectId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readSource } from '../projects/read-source.ts';
import { type NotificationsContext, publishConnectorUpdate } from './notifications.ts';
import * as queries from './queries.ts';

export interface Links {
  readonly connectorIds: readonly ConnectorId[];
  readonly events?: readonly NoticeKind[] | null;
}

/** Replaces all of them. */
export function linkConnectors(
  ctx: Pick<NotificationsContext, 'db'>,
  workspaceId: WorkspaceId,
  projectId: ProjectId,
  { connectorIds, events }: Links,
) {
  const wanted = [...new Set(connectorIds)];
  return ctx.db.transaction(async (tx) => {
    // A project of another workspace is not found, before anything is said about the connectors.
    await readSource(tx, workspaceId, projectId);
    const own = new Set(await queries.ownConnectors(tx, workspaceId, wanted));
    const errors = connectorIds.flatMap((id, index) =>
      own.has(id)
        ? []
        : [{ path: `connectorIds[${index}]`, message: 'is not a notification connector of this workspace' }],
    );
    if (errors.length > 0)
      throw new Fault('invalid_input', 'Not all of these are notification connectors of this workspace.', {
        errors,
      });
    const before = await queries.listLinks(tx, workspaceId, projectId);
    await queries.replaceLinks(tx, workspaceId, projectId, wanted, events ? [...new Set(events)] : null);
    const touched = new Set([...before.map(({ connectorId }) => connectorId), ...wanted]);
    const links = await readLinks(tx, workspaceId, projectId);
    for (const id of [...touched].sort()) await publishConnectorUpdate(tx, workspaceId, id, 'linked');
    return links;
  });
}

export async function readLinks(db: Queryable, workspaceId: WorkspaceId, projectId: ProjectId) {
  await readSource(db, workspaceId, projectId);
  const links = await queries.listLinks(db, workspaceId, projectId);
  return {
    projectId,
    connectorIds: links.map(({ connectorId }) => connectorId),
    events: links[0]?.events ? [...links[0].events] : null,
  };
}
