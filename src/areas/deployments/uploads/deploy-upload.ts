/**
 * A deployment of a working tree that is uploaded with the request. It is stored as a commit first, and the deployment is
 * asked for when all of it is there; who breaks off has asked for nothing.
 */
import { sentTooLarge } from '../../../adapters/git/uploads/unpack.ts';
import type { Uploads } from '../../../adapters/git/uploads/uploads.ts';
import { hour } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import { newId, type UploadId, type WorkspaceId } from '../../../ids.ts';
import type { SaveResponse } from '../../../store/answer.ts';
import { readUser } from '../../accounts/read-user.ts';
import { requireEnvironment } from '../../environments/environment-state.ts';
import type { DeploymentsContext } from '../deployments.ts';
import { noServer } from '../request-deployment.ts';
import { type Asked, start } from '../start-deployment.ts';
import * as queries from './upload-queries.ts';

/** An upload takes no longer; what is on the disk for longer and has no deployment was left by a kill. */
export const longestUploadMs = hour;

export interface Upload {
  readonly content: AsyncIterable<Buffer>;
  /** 0 where nobody said. */
  readonly announcedBytes: number;
  readonly message: string | undefined;
  readonly signal: AbortSignal;
}

export async function deployUpload(
  ctx: DeploymentsContext,
  asked: Asked,
  { content, announcedBytes, message = 'Uploaded working tree', signal }: Upload,
  saveResponse: SaveResponse,
) {
  const { workspaceId, environmentId } = asked;
  // Before a byte of it is read.
  const { serverId } = await requireEnvironment(ctx.db, workspaceId, environmentId);
  if (serverId === null) throw noServer();
  const uploads = await ctx.uploads();
  const { maxSentBytes } = uploads.limits;
  if (announcedBytes > maxSentBytes) throw sentTooLarge(maxSentBytes);
  await makeRoom(ctx, uploads, workspaceId);
  const { name, email } = await readUser(ctx.db, asked.requestedBy);
  const place = { owner: workspaceId, id: newId<UploadId>() };
  const commit = { author: name ?? email, message, at: ctx.clock.now() };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLate()), longestUploadMs);
  try {
    const within = AbortSignal.any([signal, late.signal]);
    const { sha } = await uploads.receive(place, content, commit, within);
    const wanted = { sha, branch: null };
    return await start(ctx, asked, 'manual', { wanted, uploadId: place.id }, saveResponse);
  } catch (error) {
    // Of anything else it is not known whether the deployment is there; the schedule looks.
    if (error instanceof Fault) await uploads.remove(place);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** So that the largest upload would fit: the oldest that nothing runs of, or is about to, are given up. */
async function makeRoom(ctx: DeploymentsContext, uploads: Uploads, workspaceId: WorkspaceId): Promise<void> {
  const { maxOwnerBytes, maxSentBytes } = uploads.limits;
  const stored = uploads.listOf(workspaceId);
  let used = stored.reduce((sum, { bytes }) => sum + bytes, 0);
  const most = Math.max(0, maxOwnerBytes - maxSentBytes);
  if (used <= most) return;
  const needed = await queries.listNeeded(ctx.db, workspaceId);
  const before = ctx.clock.now().getTime() - longestUploadMs;
  for (const upload of stored) {
    if (used <= most) return;
    if (needed.has(upload.id) || upload.changedAt.getTime() > before) continue;
    await uploads.remove(upload);
    used -= upload.bytes;
  }
}

function tooLate(): Fault {
  return new Fault('request_timeout', 'The upload did not arrive within an hour.');
}
