/** The SQL of the parts of backups: one for each database and each volume. */
import type { BackupId, BackupPartId, ServiceId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { sql } from '../../store/sql.ts';
import type { Verification } from './backups.ts';
import type { ContentStats, SourceKind } from './engines/engine.ts';

export interface NewPart {
  readonly id: BackupPartId;
  readonly backupId: BackupId;
  readonly position: number;
  readonly sourceType: 'service' | 'volume';
  readonly serviceId: ServiceId | null;
  readonly name: string;
  readonly kind: SourceKind;
  readonly version: string | null;
  readonly format: string;
  readonly objectName: string;
  readonly keySealed: Buffer | null;
  readonly verification: Verification;
}

export interface PartRow extends NewPart {
  readonly sizeBytes: number | null;
  readonly dumpBytes: number | null;
  readonly rawBytes: number | null;
  readonly sha256: string | null;
  readonly contentStats: ContentStats | null;
  readonly warning: string | null;
  readonly storedAt: Date | null;
}

export function insertPart(tx: Queryable, workspaceId: WorkspaceId, part: NewPart) {
  return tx.run(sql`
    insert into backup_parts (workspace_id, id, backup_id, position, source_type, service_id, name, kind, version,
      format, object_name, key_sealed, verification)
    values (${workspaceId}, ${part.id}, ${part.backupId}, ${part.position}, ${part.sourceType}, ${part.serviceId},
      ${part.name}, ${part.kind}, ${part.version}, ${part.format}, ${part.objectName}, ${part.keySealed},
      ${JSON.stringify(part.verification)})`);
}

export function listParts(db: Queryable, workspaceId: WorkspaceId, backupIds: readonly BackupId[]) {
  return db.rows<PartRow>(sql`
    select id, backup_id as "backupId", position, source_type as "sourceType", service_id as "serviceId", name, kind,
      version, format, object_name as "objectName", key_sealed as "keySealed", size_bytes::float8 as "sizeBytes",
      dump_bytes::float8 as "dumpBytes", raw_bytes::float8 as "rawBytes", sha256, content_stats as "contentStats",
      warning, verification, stored_at as "storedAt"
    from backup_parts where workspace_id = ${workspaceId} and backup_id = any(${backupIds}::uuid[])
    order by backup_id desc, position`);
}

export interface StoredPart {
  readonly sizeBytes: number;
  readonly dumpBytes: number;
  readonly rawBytes: number;
  readonly sha256: string;
  readonly contentStats: ContentStats;
  readonly warning: string | null;
}

export function setPartStored(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupPartId,
  stored: StoredPart,
  now: Date,
): Promise<number> {
  return tx.run(sql`
    update backup_parts set size_bytes = ${stored.sizeBytes}, dump_bytes = ${stored.dumpBytes},
      raw_bytes = ${stored.rawBytes}, sha256 = ${stored.sha256}, warning = ${stored.warning}, stored_at = ${now},
      content_stats = ${JSON.stringify(stored.contentStats)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
}

export function setPartVerification(
  tx: Queryable,
  workspaceId: WorkspaceId,
  id: BackupPartId,
  verification: Verification,
): Promise<number> {
  return tx.run(sql`
    update backup_parts set verification = ${JSON.stringify(verification)}::jsonb
    where workspace_id = ${workspaceId} and id = ${id}`);
}
