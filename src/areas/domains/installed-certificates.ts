/**
 * The certificates of an environment on one server: installed before names are served under TLS, again where they are
 * gone, and removed with the environment.
 */
import { bundleOf } from '../../adapters/certificates/bundle.ts';
import { covers, readCertificate } from '../../adapters/certificates/read-certificate.ts';
import type { SeenCertificate, Target } from '../../engine/engine.ts';
import type { CertificateId, EnvironmentId } from '../../ids.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import { listCertified, listInstallable } from './certificate-queries.ts';
import { certificateKeyPlace } from './domains.ts';
import { listNames, listOfCertificate } from './name-queries.ts';

export interface CertificatesContext {
  readonly db: Database;
  readonly sealer: Sealer;
}

type StoredCertificate = Awaited<ReturnType<typeof listInstallable>>[number];

/** What the server has already is left as it is. */
export async function ensureCertificates(ctx: CertificatesContext, target: Target): Promise<void> {
  const { workspaceId, environmentId } = target.placement;
  const stored = await listInstallable(ctx.db, workspaceId, environmentId);
  if (stored.length === 0) return;
  const seen = await target.readCertificates();
  for (const each of stored) if (!isInstalled(each, seen)) await installStored(ctx, target, each);
}

export async function installStored(
  ctx: CertificatesContext,
  target: Target,
  stored: StoredCertificate,
): Promise<void> {
  const { workspaceId } = target.placement;
  const key = await ctx.sealer.open(ctx.db, certificateKeyPlace(workspaceId, stored.id), stored.keySealed);
  const names = coveredNames(stored);
  // One that covers none of its names is replaced before long.
  if (names.length > 0)
    await target.installCertificate({ id: stored.id, names, bundle: bundleOf(stored.chain, key) });
}

/** Those that the server should have and does not, of environments that stand on it. Asked only where some should be there. */
export async function listMissingCertificates(
  db: Queryable,
  target: Pick<Target, 'placement' | 'readCertificates'>,
  environmentIds: readonly EnvironmentId[],
): Promise<ReadonlyMap<EnvironmentId, CertificateId[]>> {
  const { workspaceId } = target.placement;
  const missing = new Map<EnvironmentId, CertificateId[]>();
  const certified = await listCertified(db, workspaceId, environmentIds);
  if (certified.length === 0) return missing;
  const seen = await target.readCertificates();
  for (const { environmentId } of certified) {
    const stored = await listInstallable(db, workspaceId, environmentId);
    const absent = stored.filter((each) => !isInstalled(each, seen)).map(({ id }) => id);
    missing.set(environmentId, absent);
  }
  return missing;
}

/** Once more, in the environment's own queue, unless a name has it again. */
export async function removeIfUnused(db: Queryable, target: Target, id: CertificateId): Promise<void> {
  const named = await listOfCertificate(db, target.placement.workspaceId, id);
  if (named.length === 0) await target.removeCertificate(id);
}

export async function removeCertificates(db: Queryable, target: Target): Promise<void> {
  const { workspaceId, environmentId } = target.placement;
  for (const { certificateId } of await listNames(db, workspaceId, [environmentId]))
    if (certificateId !== null) await target.removeCertificate(certificateId);
}

function isInstalled(stored: StoredCertificate, seen: readonly SeenCertificate[]): boolean {
  if (coveredNames(stored).length === 0) return true;
  const found = seen.find(({ id }) => id === stored.id);
  if (!found?.agrees) return false;
  const isSame = found.fingerprint === readCertificate(stored.chain).fingerprint;
  return isSame && coveredNames(stored).every((name) => found.names.includes(name));
}

/** A name that was added is covered only by the next one. */
function coveredNames({ chain, names }: StoredCertificate): string[] {
  const { names: made } = readCertificate(chain);
  return names.filter((name) => covers(made, name));
}
