/** A new connector. What it is set up with is checked by its form, sealed, and not shown again. */
import { type ConnectorKind, findConnectorKind } from '../../adapters/connectors/connectors.ts';
import { type NoticeKind, noticeKinds } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import { type ConnectorId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { configPlace, type NotificationsContext, tellConnector } from './notifications.ts';
import * as queries from './queries.ts';
import { readConnector, type ShownConnector } from './read-connectors.ts';

export interface NewConnector {
  readonly type: string;
  readonly name: string;
  readonly config: unknown;
  readonly events?: readonly NoticeKind[];
  readonly allProjects?: boolean;
  readonly enabled?: boolean;
}

/** What most people want to hear of: what went wrong, and that it is over. */
const standardEvents: readonly NoticeKind[] = noticeKinds.filter(
  (kind) => kind !== 'deployment_started' && kind !== 'deployment_cancelled',
);

export async function createConnector(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  given: NewConnector,
  saveResponse: SaveResponse,
): Promise<Answer<ShownConnector & { secret: string | null }>> {
  const kind = kindOf(given.type);
  const kept = await kind.readConfig(given.config, { allowPrivate: ctx.allowPrivate });
  const { target } = await kind.open(kept, ctx.ways);
  const id = newId<ConnectorId>();
  const { type, name, allProjects = false, enabled = true } = given;
  const events = [...new Set(given.events ?? standardEvents)];
  const answer = await ctx.db.transaction(async (tx) => {
    const configSealed = await ctx.sealer.seal(tx, configPlace(workspaceId, id), new Secret(kept));
    const row = { id, type, name, events, allProjects, enabled, configSealed, target };
    await queries.insertConnector(tx, workspaceId, row, ctx.clock.now());
    const body = { ...(await readConnector(tx, workspaceId, id)), secret: null };
    const location = `/api/v1/notification-connectors/${id}`;
    const made = await saveResponse(tx, { status: 201, location, body });
    await tellConnector(tx, workspaceId, id, 'created');
    return made;
  });
  // Told once and kept nowhere in the clear: an answer that is asked for again comes without it.
  return { ...answer, body: { ...answer.body, secret: kind.madeSecret(given.config, kept) } };
}

export function kindOf(type: string): ConnectorKind {
  const kind = findConnectorKind(type);
  if (kind) return kind;
  throw new Fault('invalid_input', `There is no kind of connector called ${type}.`, {
    errors: [{ path: 'type', message: 'is no kind of connector' }],
  });
}
