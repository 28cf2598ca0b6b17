/**
 * Notification connectors: how people hear of what happened, where they are. Owns the connectors, which projects each
 * hears of, and every delivery; refuses to show what a connector was set up with, and to send anything twice to a
 * receiver that could not tell.
 */
import type { Logger } from 'pino';
import type { Transports } from '../../adapters/connectors/connectors.ts';
import type { Clock } from '../../clock.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { ConnectorId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Secret } from '../../secret.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';

export interface NotificationsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly ways: Transports;
  /** Whether addresses of one's own network may be given. */
  readonly allowPrivate: boolean;
  readonly publicUrl: () => string;
  /** What must not be read in a message about this environment. */
  readonly secretsOf: (workspaceId: WorkspaceId, environmentId: EnvironmentId) => Promise<readonly Secret[]>;
  /** Told after a commit that left a mail to send. */
  readonly wakeMail: () => void;
}

export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';

export function notFound(): Fault {
  return new Fault('not_found', 'There is no such notification connector of yours.');
}

export function configPlace(workspaceId: WorkspaceId, id: ConnectorId) {
  return { workspaceId, table: 'notification_connectors', row: id, column: 'config_sealed' } as const;
}

/** In the transaction that changed it, last. */
export function tellConnector(
  tx: Queryable,
  workspaceId: WorkspaceId,
  connectorId: ConnectorId,
  reason: 'created' | 'changed' | 'deleted' | 'linked' | 'failing' | 'recovered' | 'disabled',
) {
  const data = { connectorId, reason };
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'connector_updated', data }]);
}
