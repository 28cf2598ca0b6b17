/**
 * Verifies a part: fetched from its destination as for a restore, loaded into a scratch container, and compared by the
 * content stats of the very snapshot that was dumped. What cannot be verified says why.
 */
import type { Storage } from '../../../adapters/storage/storage.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { Fault } from '../../../fault.ts';
import type { StepContext } from '../../../operations/definition.ts';
import { assertLease } from '../../../operations/operations.ts';
import type { BackupsContext, Verification } from '../backups.ts';
import type { ContentStats, RestoreVerdict } from '../engines/engine.ts';
import { engines } from '../engines/engines.ts';
import { removeScratch } from '../engines/scratch.ts';
import { removeFolder } from '../engines/server-files.ts';
import { setPartVerification } from '../part-queries.ts';
import { fetchPart } from './read-part.ts';
import type { SourcedPart } from './store-part.ts';

export async function verifyPart(
  ctx: BackupsContext,
  host: DockerHost,
  storage: Storage,
  sourced: SourcedPart,
  step: StepContext,
): Promise<void> {
  const { part } = sourced;
  const { status, reason } = verificationOf(
    await restoredOnce(ctx, host, storage, sourced, step),
    part.contentStats ?? {},
  );
  const at = ctx.clock.now().toISOString();
  // When nothing is left on the server: a part that is verified is not looked at again. And not by one who was replaced meanwhile.
  await ctx.db.transaction(async (tx) => {
    await assertLease(tx, step);
    await setPartVerification(tx, step.workspaceId, part.id, { status, reason, at });
  });
  step.log(`${part.name}: ${status === 'verified' ? 'restored and compared' : `not verified: ${reason}`}`);
  if (status === 'failed')
    throw new Fault('backup_not_equal', `A restored copy of ${part.name} is not what was dumped.`, {
      hint: 'The backup was discarded. Make another one; where that fails too, look at the evidence.',
      evidence: reason ?? '',
    });
}

/** With its folder on the server, which is gone in the end. */
async function restoredOnce(
  ctx: BackupsContext,
  host: DockerHost,
  storage: Storage,
  sourced: SourcedPart,
  step: StepContext,
): Promise<RestoreVerdict> {
  const { part } = sourced;
  // What a kill left of the attempt before.
  await removeScratch(host, part.id);
  try {
    return await restored(ctx, host, storage, sourced, step);
  } finally {
    await removeFolder({ ...host, signal: AbortSignal.timeout(30_000) }, part.id);
  }
}

async function restored(
  ctx: BackupsContext,
  host: DockerHost,
  storage: Storage,
  { part, source }: SourcedPart,
  step: StepContext,
): Promise<RestoreVerdict> {
  const progress = {
    log: (line: string) => step.log(line),
    fraction: (done: number) => step.progress(done, `verifying ${part.name}`),
  };
  try {
    const file = await fetchPart(ctx, host, storage, part, part.id);
    return await engines[part.kind].verifyRestore(host, source.source, file, part.id, progress);
  } catch (error) {
    // A disk without space for it says nothing against the backup itself.
    if (error instanceof Fault && error.code === 'disk_full')
      return { outcome: 'unverifiable', reason: error.message };
    throw error;
  }
}

function verificationOf(
  verdict: RestoreVerdict,
  dumped: ContentStats,
): Pick<Verification, 'status' | 'reason'> {
  if (verdict.outcome === 'unverifiable') return { status: 'unverifiable', reason: verdict.reason };
  if (verdict.outcome === 'corrupt') return { status: 'failed', reason: verdict.reason };
  const differences = compareContentStats(dumped, verdict.contentStats);
  return differences.length > 0
    ? { status: 'failed', reason: differences.join('\n') }
    : { status: 'verified', reason: null };
}

const maxDifferences = 20;

/** Sentences, one for each difference; none where all is equal. */
export function compareContentStats(dumped: ContentStats, restoredStats: ContentStats): string[] {
  // As texts: what the store returns as a number was perhaps written as one with a point.
  const shown = (stats: ContentStats, name: string) =>
    Object.hasOwn(stats, name) ? String(stats[name]) : 'none';
  const names = [...new Set([...Object.keys(dumped), ...Object.keys(restoredStats)])].sort();
  const differences = names.flatMap((name) => {
    const [before, after] = [shown(dumped, name), shown(restoredStats, name)];
    return before === after ? [] : [`${name}: ${before} when it was dumped, ${after} when it was restored`];
  });
  if (differences.length <= maxDifferences) return differences;
  return [...differences.slice(0, maxDifferences), `and ${differences.length - maxDifferences} more`];
}
