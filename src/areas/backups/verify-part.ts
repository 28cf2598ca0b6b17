/**
 * Tries a part out: brought back from its destination as it would be for a restore, loaded into a throw-away container,
 * and compared with the figures of the very snapshot that was dumped. What cannot be tried says why.
 */
import type { Storage } from '../../adapters/storage/storage.ts';
import type { DockerHost } from '../../engine/docker-host.ts';
import { Fault } from '../../fault.ts';
import type { StepContext } from '../../operations/definition.ts';
import type { BackupsContext, Verification } from './backups.ts';
import { compareFigures } from './compare-figures.ts';
import type { ServerFile } from './engines/engine.ts';
import { engineFor } from './engines/engines.ts';
import { type PartRow, setVerification } from './part-queries.ts';
import { fetchPart } from './read-part.ts';
import { removeFolder } from './server-files.ts';
import type { BackupSource } from './sources.ts';

export async function verifyPart(
  ctx: BackupsContext,
  site: DockerHost,
  storage: Storage,
  { part, source }: { readonly part: PartRow; readonly source: BackupSource },
  step: StepContext,
): Promise<void> {
  const engine = engineFor(part.kind);
  // What a kill left of the try before.
  await engine.clearAway(site, part.id);
  try {
    const file = await fetched(ctx, site, storage, part);
    const verification = 'reason' in file ? cannot(ctx, file.reason) : await tried(file);
    await setVerification(ctx.db, step.workspaceId, part.id, verification);
    const { status, reason } = verification;
    step.log(`${part.name}: ${status === 'verified' ? 'restored and compared' : `not verified: ${reason}`}`);
    if (status === 'failed') throw notEqual(part, reason ?? '');
  } finally {
    await removeFolder({ ...site, signal: AbortSignal.timeout(30_000) }, part.id);
  }

  async function tried(file: ServerFile): Promise<Verification> {
    const progress = {
      log: (line: string) => step.log(line),
      fraction: (done: number) => step.progress(done, `trying ${part.name}`),
    };
    const verdict = await engine.tryOut(site, source.source, file, part.id, progress);
    if (verdict.outcome === 'untried') return cannot(ctx, verdict.reason);
    const at = ctx.clock.now().toISOString();
    if (verdict.outcome === 'broken') return { status: 'failed', reason: verdict.reason, at };
    const differences = compareFigures(part.figures ?? {}, verdict.figures);
    if (differences.length > 0) return { status: 'failed', reason: differences.join('\n'), at };
    return { status: 'verified', reason: null, at };
  }
}

/** A disk without room for it says nothing against the backup itself. */
async function fetched(
  ctx: BackupsContext,
  site: DockerHost,
  storage: Storage,
  part: PartRow,
): Promise<ServerFile | { readonly reason: string }> {
  try {
    return await fetchPart(ctx, site, storage, part, part.id);
  } catch (error) {
    if (error instanceof Fault && error.code === 'disk_full') return { reason: error.message };
    throw error;
  }
}

function cannot(ctx: BackupsContext, reason: string): Verification {
  return { status: 'unverifiable', reason, at: ctx.clock.now().toISOString() };
}

function notEqual({ name }: PartRow, evidence: string): Fault {
  return new Fault('backup_not_equal', `A restored copy of ${name} is not what was dumped.`, {
    hint: 'The backup was discarded. Make another one; where that fails too, look at the evidence.',
    evidence,
  });
}
