/**
 * Backups of environments: their databases and the volumes of their application. Owns what is taken, when, where it is
 * stored, how long, how it was verified, and how it or an upload replaces the live data; refuses to call one good that was
 * not stored whole, to restore what does not fit, and to delete the last good one unasked. How each kind of data is dumped
 * and loaded is the engines' business, where bytes are stored the storage's.
 */
import type { Logger } from 'pino';
import { v5 } from 'uuid';
import type { Egress } from '../../adapters/egress/egress.ts';
import type { Storage } from '../../adapters/storage/storage.ts';
import type { Clock } from '../../clock.ts';
import type { WorkspaceEvent } from '../../events/event-kinds.ts';
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
import { readEnvironmentState } from '../environments/environment-state.ts';
import type { TargetAccess } from '../environments/placement/open-target.ts';

export const backupKind = 'backup_make';
export const restoreKind = 'backup_restore';
export const importKind = 'backup_import';
export const discardKind = 'backup_discard';

export type UnfinishedStatus = 'queued' | 'dumping' | 'storing' | 'verifying';
export type BackupStatus = UnfinishedStatus | 'succeeded' | 'failed';
export type BackupTrigger = 'manual' | 'schedule' | 'pre_restore' | 'pre_import';

export interface Verification {
  readonly status: 'pending' | 'verified' | 'failed' | 'unverifiable' | 'off';
  readonly reason: string | null;
  readonly at: string | null;
}

export interface BackupsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly servers: TargetAccess;
  readonly log: Logger;
  /** The folder of the service, for what leaves for nowhere else. */
  readonly localStorage: Storage;
  /** The guarded way out: where an S3 is, users say. */
  readonly fetch: Egress['fetch'];
  /** The largest upload. */
  readonly importBytes: number;
  /** How much data one may become on the server. */
  readonly importDataBytes: number;
  /** How long data that was replaced is kept beside. */
  readonly keepReplacedDays: number;
}

/** Made by a restore or an import, of the data that it replaces. */
export function isSafetyBackup({ trigger }: { readonly trigger: BackupTrigger }): boolean {
  return trigger === 'pre_restore' || trigger === 'pre_import';
}

export function backupNotFound(): Fault {
  return new Fault('not_found', 'No such backup.');
}

export function partKeyPlace(workspaceId: WorkspaceId, id: BackupPartId) {
  return { workspaceId, table: 'backup_parts', row: id, column: 'key_sealed' } as const;
}

export function destinationCredentialsPlace(workspaceId: WorkspaceId, id: BackupDestinationId) {
  return { workspaceId, table: 'backup_destinations', row: id, column: 'credentials_sealed' } as const;
}

/**
 * Backups of one server are made one after the other: two verifications at once would compete for its memory. The key is
 * not the one that deployments queue by, so neither keeps the other waiting.
 */
export function queueKeyOf(serverId: ServerId): string {
  return v5('backups', serverId);
}

export interface BackupUpdate {
  readonly backupId: BackupId;
  readonly environmentId: EnvironmentId;
  readonly status: BackupStatus;
  readonly reason?: string;
}

/** In the transaction that changed it, last. */
export async function publishBackupUpdate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  update: BackupUpdate,
): Promise<void> {
  const environment = await readEnvironmentState(tx, workspaceId, update.environmentId);
  const data = { ...update, ...(environment && { projectId: environment.projectId }) };
  return appendEvents<WorkspaceEvent>(tx, { workspaceId, feedId: workspaceId }, [
    { kind: 'backup_updated', data },
  ]);
}
