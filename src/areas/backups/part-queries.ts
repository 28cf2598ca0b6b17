/** The SQL of the parts of backups: one for each database and each volume. */
import type { BackupId, BackupPartId, ServiceId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { Verification } from './backups.ts';
import type { Figures, SourceKind } from './engines/engine.ts';

export interface PartRow {
  readonly id: BackupPartId;
  readonly backupId: BackupId;
  readonly place: number;
  readonly sourceType: 'service' | 'volume';
  readonly serviceId: ServiceId | null;
  readonly name: string;
  readonly kind: SourceKind;
  readonly version: string | null;
  readonly format: string;
  readonly objectName: string;
  readonly keySealed: Buffer | null;
  readonly sizeBytes: number | null;
  readonly dumpBytes: number | null;
  readonly rawBytes: number | null;
  readonly sha256: string | null;
  readonly figures: Figures | null;
  readonly warning: string | null;
  readonly verification: Verification;
  readonly storedAt: Date | null;
}

export type NewPart = Omit<
  PartRow,
  'sizeBytes' | 'dumpBytes' | 'rawBytes' | 'sha256' | 'figures' | 'warning' | 'storedAt'
>;

export function insertPart(tx: Queryable, workspaceId: WorkspaceId, part: NewPart) {
  return tx.run(sql`
    insert into backup_parts (workspace_id, id, backup_id, place, source_type, service_id, name, kind, version, format,
      object_name, key_sealed, verification)
    values (${workspaceId}, ${part.id}, ${part.backupId}, ${part.place}, ${part.sourceType}, ${part.serviceId},
      ${part.name}, ${part.kind}, ${part.version}, ${part.format}, ${part.objectName}, ${part.keySealed},
      ${JSON.stringify(part.verification)})`);
}

export function listParts(db: Queryable, workspaceId: WorkspaceId, backupIds: readonly BackupId[]) {
  return db.rows<PartRow>(sql`
    select id, backup_id as "backupId", place, source_type as "sourceType", service_id as "serviceId", name, kind,
      version, format, object_name as "objectName", key_sealed as "keySealed", size_bytes::float8 as "sizeBytes",
      dump_bytes::float8 as "dumpBytes", raw_bytes::float8 as "rawBytes", sha256, figures, warning, verification,
      stored_at as "storedAt"
    from backup_parts where workspace_id = ${workspaceId} and backup_id = any(${backupIds}::uuid[])
    order by backup_id desc, place`);
}

export interface StoredPart {
  readonly sizeBytes: number;
  readonly dumpBytes: number;
  readonly rawBytes: number;
  readonly sha256: string;
  readonly figures: Figures;
  readonly warning: string | null;
}

export function setStored(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupPartId,
  stored: StoredPart,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backup_parts set size_bytes = ${stored.sizeBytes}, dump_bytes = ${stored.dumpBytes},
      raw_bytes = ${stored.rawBytes}, sha256 = ${stored.sha256}, figures = ${JSON.stringify(stored.figures)}::jsonb,
      warning = ${stored.warning}, stored_at = ${now}
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setVerification(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupPartId,
  verification: Verification,
): Promise<number> {
  return tx.run(sql`
    update backup_parts set verification = ${JSON.stringify(verification)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
}
