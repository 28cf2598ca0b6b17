/** Changes a connector, enables and disables it, and deletes it. */
import type { NoticeKind } from '../../events/notices.ts';
import type { ConnectorId, WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Queryable } from '../../store/database.ts';
import { askRecipients } from './consent.ts';
import { transportsOf } from './consenting-mail.ts';
import { kindOf } from './create-connector.ts';
import { endPending } from './delivery-queries.ts';
import {
  configPlace,
  connectorNotFound,
  type NotificationsContext,
  publishConnectorUpdate,
} from './notifications.ts';
import * as queries from './queries.ts';
import { type ConnectorView, readConnector } from './read-connectors.ts';

export interface ConnectorChange {
  readonly name?: string;
  readonly events?: readonly NoticeKind[];
  readonly allProjects?: boolean;
  readonly enabled?: boolean;
  readonly config?: unknown;
}

export async function changeConnector(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  id: ConnectorId,
  change: ConnectorChange,
): Promise<ConnectorView> {
  const now = ctx.clock.now();
  let hasMail = false;
  const answer = await ctx.db.transaction(async (tx) => {
    const before = await queries.lockConnector(tx, workspaceId, id);
    if (!before) throw connectorNotFound();
    const { name = null, events, allProjects = null, enabled = null } = change;
    const config =
      change.config === undefined ? null : await newConfig(tx, ctx, workspaceId, id, before, change.config);
    const rest = { events: events ? [...new Set(events)] : null, allProjects, enabled, config };
    await queries.updateConnector(tx, workspaceId, id, { name, ...rest }, now);
    if (config) hasMail = await askRecipients(tx, workspaceId, config.recipients, now, true);
    if (enabled === false) await endPending(tx, workspaceId, id, 'The connector was disabled.', now);
    const view = await readConnector(tx, workspaceId, id);
    await publishConnectorUpdate(tx, workspaceId, id, 'changed');
    return view;
  });
  if (hasMail) ctx.wakeMail();
  return answer;
}

/** Replaced as a whole, except for what its kind keeps where it is omitted. */
async function newConfig(
  tx: Queryable,
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  id: ConnectorId,
  { type, configSealed }: queries.SealedConfig,
  given: unknown,
): Promise<{ sealed: Buffer; target: string; recipients: readonly string[] }> {
  const kind = kindOf(type);
  const place = configPlace(workspaceId, id);
  const before: unknown = JSON.parse((await ctx.sealer.open(tx, place, configSealed)).reveal());
  const config = await kind.readConfig(given, { allowPrivate: ctx.allowPrivate, before });
  const { target, recipients } = await kind.open(config, transportsOf(ctx, workspaceId));
  return { sealed: await ctx.sealer.seal(tx, place, new Secret(config)), target, recipients };
}

export function deleteConnector(
  ctx: NotificationsContext,
  workspaceId: WorkspaceId,
  id: ConnectorId,
): Promise<void> {
  return ctx.db.transaction(async (tx) => {
    if ((await queries.deleteConnectorRow(tx, workspaceId, id)) === 0) throw connectorNotFound();
    await publishConnectorUpdate(tx, workspaceId, id, 'deleted');
  });
}
