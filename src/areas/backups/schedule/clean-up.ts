/** Removes what could not be removed when it was due, and what has been kept long enough. */
import { after, day, hour, minute } from '../../../clock.ts';
import { errorText, Fault } from '../../../fault.ts';
import type { BackupId, WorkspaceId } from '../../../ids.ts';
import { sideBySide } from '../../../side-by-side.ts';
import { connectTo } from '../../servers/connection/connect-server.ts';
import type { BackupsContext } from '../backups.ts';
import { removeObjects } from '../destinations.ts';
import { removeFolder } from '../engines/server-files.ts';
import { findBackup } from '../queries.ts';
import { enqueueDiscard } from '../restore/discard-replaced.ts';
import * as restores from '../restore/restore-queries.ts';
import * as deletion from '../retention/deletion-queries.ts';

const limit = 100;
const abandonedAfterMs = 5 * minute;
const retryMs = hour;
const fairness = { atOnce: 20, ofOne: 2, withinMs: minute } as const;
const keepRestoresMs = 90 * day;

export async function cleanUp(ctx: BackupsContext): Promise<void> {
  const { db } = ctx;
  const now = ctx.clock.now();
  const due = { now, next: after(now, retryMs), limit };
  await db.transaction(async (tx) => {
    for (const each of await restores.takeDueReplaced(tx, due)) await enqueueDiscard(tx, ctx, each);
  });
  const deletions = await deletion.takeDueDeletions(db, due);
  const cleanups = await deletion.takeDueCleanups(db, due);
  const uploads = [
    ...(await restores.takeAbandoned(db, { ...due, now: after(now, -abandonedAfterMs) })),
    ...(await restores.takeFailedUploads(db, due)),
  ];
  await Promise.all([
    sideBySide(deletions, fairness, ({ workspaceId, id }, signal) =>
      attempt(ctx, `the backup ${id}`, async () => {
        await removeStored(ctx, workspaceId, id, signal);
        await deletion.deleteMarked(db, workspaceId, id);
      }),
    ),
    sideBySide(cleanups, fairness, ({ workspaceId, id }, signal) =>
      attempt(ctx, `what the failed backup ${id} has stored`, async () => {
        await removeStored(ctx, workspaceId, id, signal);
        await deletion.setCleanup(db, workspaceId, id, null);
      }),
    ),
    sideBySide(uploads, fairness, (upload, signal) =>
      attempt(ctx, `the upload ${upload.id}`, async () => {
        await removeUpload(ctx, upload, signal);
        await restores.setUploadRemoved(db, upload.workspaceId, upload.id);
      }),
    ),
  ]);
  await restores.pruneRestores(db, after(now, -keepRestoresMs));
  await deletion.deleteUnusedDestinations(db, after(now, -day));
}

async function removeUpload(
  ctx: BackupsContext,
  { workspaceId, id, serverId }: restores.AbandonedUpload,
  signal: AbortSignal,
): Promise<void> {
  if (serverId === null) return;
  try {
    const { remote } = await connectTo(ctx.servers, workspaceId, serverId);
    await removeFolder({ remote, signal }, id);
  } catch (error) {
    // The file is gone with its server.
    if (!(error instanceof Fault) || error.code !== 'not_found') throw error;
  }
}

async function removeStored(
  ctx: BackupsContext,
  workspaceId: WorkspaceId,
  id: BackupId,
  signal: AbortSignal,
): Promise<void> {
  const backup = await findBackup(ctx.db, workspaceId, id);
  if (backup) await removeObjects(ctx, backup, { workspaceId, signal });
}

/** What cannot be removed now is tried again in an hour; the others need not wait for it. */
async function attempt(ctx: BackupsContext, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isExpected = error instanceof Fault || (error instanceof Error && error.name === 'TimeoutError');
    if (!isExpected) throw error;
    ctx.log.warn({ reason: errorText(error) }, `${what} could not be removed, trying again later`);
  }
}
