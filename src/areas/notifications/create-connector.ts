/** Creates a connector. Its config is checked by its kind, sealed, and not shown again. */
import { type ConnectorKind, findConnectorKind } from '../../adapters/connectors/connectors.ts';
import { type NoticeKind, noticeKinds } from '../../events/notices.ts';
import { Fault } from '../../fault.ts';
import { type ConnectorId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import { askRecipients } from './consent.ts';
import { transportsOf } from './consenting-mail.ts';
import { configPlace, type NotificationsContext, publishConnectorUpdate } from './notifications.ts';
import * as queries from './queries.ts';
import { type ConnectorView, readConnector } from './read-connectors.ts';

export interface NewConnector {
  readonly type: string;
  readonly name: string;
  readonly config: unknown;
  readonly events?: readonly NoticeKind[];
  readonly allProjects?: boolean;
  readonly enabled?: boolean;
}

/** What went wrong, and that it is over. */
const defaultEvents: readonly NoticeKind[] = noticeKinds.filter(
  (kind) => kind !== 'deployment_started' && kind !== 'deployment_cancelled',
);

export async function createConnector(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  given: NewConnector,
  saveResponse: SaveResponse,
): Promise<Answer<ConnectorView & { secret: string | null }>> {
  const kind = kindOf(given.type);
  const config = await kind.readConfig(given.config, { allowPrivate: ctx.allowPrivate });
  const { target, recipients } = await kind.open(config, transportsOf(ctx, workspaceId));
  const id = newId<ConnectorId>();
  const { type, name, allProjects = false, enabled = true } = given;
  const events = [...new Set(given.events ?? defaultEvents)];
  let hasMail = false;
  const answer = await ctx.db.transaction(async (tx) => {
    const configSealed = await ctx.sealer.seal(tx, configPlace(workspaceId, id), new Secret(config));
    const row = { id, type, name, events, allProjects, enabled, configSealed, target };
    await queries.insertConnector(tx, workspaceId, row, ctx.clock.now());
    hasMail = await askRecipients(tx, workspaceId, recipients, ctx.clock.now(), true);
    const body = { ...(await readConnector(tx, workspaceId, id)), secret: null };
    const location = `/api/v1/notification-connectors/${id}`;
    const made = await saveResponse(tx, { status: 201, location, body });
    await publishConnectorUpdate(tx, workspaceId, id, 'created');
    return made;
  });
  if (hasMail) ctx.wakeMail();
  // Shown once and stored nowhere in the clear: the answer to a repeated request comes without it.
  return { ...answer, body: { ...answer.body, secret: kind.madeSecret(given.config, config) } };
}

export function kindOf(type: string): ConnectorKind {
  const kind = findConnectorKind(type);
  if (kind) return kind;
  throw new Fault('invalid_input', `Unknown kind of connector: ${type}.`, {
    errors: [{ path: 'type', message: 'is not a kind of connector' }],
  });
}
