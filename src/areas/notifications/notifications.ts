/**
 * Notification connectors: where people are notified of what happened. Owns the connectors, which projects each
 * subscribes to, and every delivery; refuses to show what a connector was set up with, and to send anything twice to a
 * receiver that could not detect it.
 */
import type { Logger } from 'pino';
import type { Mailer } from '../../adapters/mail/mail.ts';
import type { Clock } from '../../clock.ts';
import type { WorkspaceEvent } from '../../events/event-kinds.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { ConnectorId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { OutboundFetch } from '../../outbound-fetch.ts';
import type { Secret } from '../../secret.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { MasterKeys } from '../../store/master-keys.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { EnvironmentHooks } from '../environments/hooks.ts';

export interface NotificationsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly log: Logger;
  readonly fetch: OutboundFetch;
  readonly mailer: Mailer;
  /** Links in mails are signed with them. */
  readonly masterKeys: MasterKeys;
  /** Whether addresses of one's own network may be given. */
  readonly allowPrivate: boolean;
  readonly publicUrl: () => string;
  /** What must not be in a message about this environment. */
  readonly secretsOf: (workspaceId: WorkspaceId, environmentId: EnvironmentId) => Promise<readonly Secret[]>;
  /** Environments are named with the address that they answer at. */
  readonly environmentHooks: EnvironmentHooks;
  /** Called after a commit that left a mail to send. */
  readonly wakeMail: () => void;
}

export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'unknown';

/** Whether a recipient of mail who is no member agreed to get it. */
export type ConsentStatus = 'pending' | 'confirmed' | 'declined';

export function connectorNotFound(): Fault {
  return new Fault('not_found', 'No such notification connector.');
}

export function configPlace(workspaceId: WorkspaceId, id: ConnectorId) {
  return { workspaceId, table: 'notification_connectors', row: id, column: 'config_sealed' } as const;
}

/** In the transaction that changed it, last. */
export function publishConnectorUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  connectorId: ConnectorId,
  reason: 'created' | 'changed' | 'deleted' | 'linked' | 'failing' | 'recovered' | 'disabled',
) {
  const data = { connectorId, reason };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'connector_updated', data },
  ]);
}
