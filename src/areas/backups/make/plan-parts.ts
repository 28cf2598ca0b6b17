/** The parts of a backup, decided once: what there is to dump, what each object is called, and which key encrypts it. */
import { randomBytes } from 'node:crypto';
import { type BackupPartId, newId, type WorkspaceId } from '../../../ids.ts';
import { Secret } from '../../../secret.ts';
import { type BackupsContext, isSafetyBackup, partKeyPlace, type Verification } from '../backups.ts';
import { engines } from '../engines/engines.ts';
import { insertPart, listParts, type PartRow } from '../part-queries.ts';
import type { BackupRow } from '../queries.ts';
import type { BackupSource } from './sources.ts';

/** After a crash these are the parts of the first time: finished ones are not repeated. */
export async function planParts(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  backup: Pick<BackupRow, 'id' | 'environmentId' | 'verify' | 'destinationId' | 'trigger'>,
  sources: readonly BackupSource[],
): Promise<PartRow[]> {
  const known = await listParts(ctx.db, workspaceId, [backup.id]);
  if (known.length > 0) return known;
  await ctx.db.transaction(async (tx) => {
    for (const [position, { type, serviceId, name, kind, version }] of sources.entries()) {
      const id = newId<BackupPartId>();
      const key = new Secret(randomBytes(32).toString('base64'));
      // What stays on this machine is as safe as the machine; what leaves it is not.
      const isEncrypted = backup.destinationId !== null;
      await insertPart(tx, workspaceId, {
        id,
        backupId: backup.id,
        position,
        sourceType: type,
        serviceId,
        name,
        kind,
        version,
        format: engines[kind].format,
        objectName: `${backup.environmentId}/${backup.id}/${id}.zst${isEncrypted ? '.sealed' : ''}`,
        keySealed: isEncrypted ? await ctx.sealer.seal(tx, partKeyPlace(workspaceId, id), key) : null,
        verification: initialVerification(backup),
      });
    }
  });
  return listParts(ctx.db, workspaceId, [backup.id]);
}

function initialVerification(backup: Pick<BackupRow, 'verify' | 'trigger'>): Verification {
  if (backup.verify) return { status: 'pending', reason: null, at: null };
  const reason = isSafetyBackup(backup)
    ? 'Backups that are made before data is replaced are not verified.'
    : 'Verification is switched off.';
  return { status: 'off', reason, at: null };
}

/** Undefined where the object is not encrypted. */
export async function partKeyOf(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  { id, keySealed }: Pick<PartRow, 'id' | 'keySealed'>,
): Promise<Buffer | undefined> {
  if (keySealed === null) return undefined;
  const opened = await ctx.sealer.open(ctx.db, partKeyPlace(workspaceId, id), keySealed);
  return Buffer.from(opened.reveal(), 'base64');
}
