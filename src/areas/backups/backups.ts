/**
 * Backups of environments: their databases and the volumes of their application. Owns what is taken, when, where it lies,
 * how long it stays, how it was tried, and how it or an upload is put in place; refuses to call one good that was not
 * stored whole, to put in place what does not fit, and to delete the last good one unasked. How each kind of data is
 * dumped and loaded is the engines' to know, where bytes lie the storage's.
 */
import type { Logger } from 'pino';
import { v5 } from 'uuid';
import type { Egress } from '../../adapters/egress/egress.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import type { Clock } from '../../clock.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type {
  BackupDestinationId,
  BackupId,
  BackupPartId,
  EnvironmentId,
  ServerId,
  WorkspaceId,
} from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { ServerAccess } from '../servers/servers.ts';

export const backupKind = 'backup_make';
export const restoreKind = 'backup_restore';
export const importKind = 'backup_import';
export const discardKind = 'backup_discard';

const backupStatuses = ['queued', 'dumping', 'storing', 'verifying', 'succeeded', 'failed'] as const;
export type BackupStatus = (typeof backupStatuses)[number];

const backupTriggers = ['manual', 'schedule', 'pre_restore', 'pre_import'] as const;
export type BackupTrigger = (typeof backupTriggers)[number];

const verificationStatuses = ['pending', 'verified', 'failed', 'unverifiable', 'off'] as const;

export interface Verification {
  readonly status: (typeof verificationStatuses)[number];
  readonly reason: string | null;
  readonly at: string | null;
}

export interface BackupsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly servers: ServerAccess;
  readonly log: Logger;
  /** The folder of the service, for what leaves for nowhere else. */
  readonly localStorage: Storage;
  /** The guarded way out: where an S3 is, users say. */
  readonly fetch: Egress['fetch'];
  /** The largest upload. */
  readonly importBytes: number;
  /** How long data that was replaced is kept beside. */
  readonly keepReplacedDays: number;
}

export function notFound(): Fault {
  return new Fault('not_found', 'No such backup.');
}

export function partKeyPlace(workspaceId: WorkspaceId, id: BackupPartId) {
  return { workspaceId, table: 'backup_parts', row: id, column: 'key_sealed' } as const;
}

export function credentialsPlace(workspaceId: WorkspaceId, id: BackupDestinationId) {
  return { workspaceId, table: 'backup_destinations', row: id, column: 'credentials_sealed' } as const;
}

/**
 * Backups of one server are made one after the other: two trials at once would take each other's memory. The key is not
 * the one that deployments wait in, so neither keeps the other waiting.
 */
export function queueKeyOf(serverId: ServerId): string {
  return v5('backups', serverId);
}

export interface BackupNews {
  readonly backupId: BackupId;
  readonly environmentId: EnvironmentId;
  readonly status: BackupStatus;
  readonly reason?: string;
}

/** In the transaction that changed it, last. */
export function tellBackup(tx: Queryable, workspaceId: WorkspaceId, news: BackupNews): Promise<void> {
  const data = { ...news };
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'backup_updated', data }]);
}
