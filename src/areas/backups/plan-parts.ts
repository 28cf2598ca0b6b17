/** The parts of a backup, decided once: what there is to dump, what each object will be called, and which key seals it. */
import { randomBytes } from 'node:crypto';
import { type BackupPartId, newId, type WorkspaceId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import { type BackupsContext, partKeyPlace, type Verification } from './backups.ts';
import { engineFor } from './engines/engines.ts';
import { insertPart, listParts, type PartRow } from './part-queries.ts';
import type { BackupRow } from './queries.ts';
import type { BackupSource } from './sources.ts';

/** Whoever comes after a crash finds the parts of the first time: finished ones are not repeated. */
export async function planParts(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  backup: Pick<BackupRow, 'id' | 'environmentId' | 'verify' | 'destinationId' | 'trigger'>,
  sources: readonly BackupSource[],
): Promise<PartRow[]> {
  const known = await listParts(ctx.db, workspaceId, [backup.id]);
  if (known.length > 0) return known;
  await ctx.db.transaction(async (tx) => {
    for (const [place, { type, serviceId, name, kind, version }] of sources.entries()) {
      const id = newId<BackupPartId>();
      const key = new Secret(randomBytes(32).toString('base64'));
      // What stays on this machine is as safe as the machine; what leaves it is not.
      const leaves = backup.destinationId !== null;
      await insertPart(tx, workspaceId, {
        id,
        backupId: backup.id,
        place,
        sourceType: type,
        serviceId,
        name,
        kind,
        version,
        format: engineFor(kind).format,
        objectName: `${backup.environmentId}/${backup.id}/${id}.zst${leaves ? '.sealed' : ''}`,
        keySealed: leaves ? await ctx.sealer.seal(tx, partKeyPlace(workspaceId, id), key) : null,
        verification: firstVerification(backup),
      });
    }
  });
  return listParts(ctx.db, workspaceId, [backup.id]);
}

function firstVerification({ verify, trigger }: Pick<BackupRow, 'verify' | 'trigger'>): Verification {
  if (verify) return { status: 'pending', reason: null, at: null };
  const reason =
    trigger === 'pre_restore' || trigger === 'pre_import'
      ? 'It was made in haste, before data was replaced, and was not tried.'
      : 'Verification is switched off.';
  return { status: 'off', reason, at: null };
}

/** Undefined where the object is not encrypted. */
export async function keyOf(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  { id, keySealed }: Pick<PartRow, 'id' | 'keySealed'>,
): Promise<Buffer | undefined> {
  if (keySealed === null) return undefined;
  const opened = await ctx.sealer.open(ctx.db, partKeyPlace(workspaceId, id), keySealed);
  return Buffer.from(opened.reveal(), 'base64');
}
