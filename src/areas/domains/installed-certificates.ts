/**
 * The certificates of an environment on one server: brought there before names are served under TLS, put back where they
 * are gone, and taken away with the environment.
 */
import { bundleOf } from '../../adapters/certificates/bundle.ts';
import { covers, readCertificate } from '../../adapters/certificates/read-certificate.ts';
import {
  installCertificate,
  readCertificates,
  removeCertificate,
  type SeenCertificate,
} from '../../adapters/proxy/fronts.ts';
import type { CertificateId, EnvironmentId, WorkspaceId } from '../../ids.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { Site } from '../environments/place.ts';
import { listOfEnvironment } from './certificate-queries.ts';
import { certificateKeyPlace } from './domains.ts';
import { listNames, listOfCertificate } from './name-queries.ts';

export interface CertificateKeeper {
  readonly db: Database;
  readonly sealer: Sealer;
}

type Kept = Awaited<ReturnType<typeof listOfEnvironment>>[number];

/** What the server shows already is left as it is. */
export async function bringCertificates(ctx: CertificateKeeper, site: Site): Promise<void> {
  const { workspaceId, environmentId } = site.place;
  const kept = await listOfEnvironment(ctx.db, workspaceId, environmentId);
  if (kept.length === 0) return;
  const seen = await readCertificates(site);
  for (const each of kept) if (!isShown(each, seen)) await showCertificate(ctx, site, each);
}

export async function showCertificate(ctx: CertificateKeeper, site: Site, kept: Kept): Promise<void> {
  const { workspaceId } = site.place;
  const key = await ctx.sealer.open(ctx.db, certificateKeyPlace(workspaceId, kept.id), kept.keySealed);
  const names = coveredNames(kept);
  // One for other names than it has now is replaced before long.
  if (names.length > 0)
    await installCertificate(site, { id: kept.id, names, bundle: bundleOf(kept.chain, key) });
}

/** Those that the server should show and does not. */
export async function missingCertificates(
  db: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  seen: readonly SeenCertificate[],
): Promise<CertificateId[]> {
  const kept = await listOfEnvironment(db, workspaceId, environmentId);
  return kept.filter((each) => !isShown(each, seen)).map(({ id }) => id);
}

/** Once more, in the environment's own turn, unless a name has it again. */
export async function takeForgottenAway(db: Queryable, site: Site, id: CertificateId): Promise<void> {
  const named = await listOfCertificate(db, site.place.workspaceId, id);
  if (named.length === 0) await removeCertificate(site, id);
}

export async function takeCertificatesAway(db: Queryable, site: Site): Promise<void> {
  const { workspaceId, environmentId } = site.place;
  for (const { certificateId } of await listNames(db, workspaceId, [environmentId]))
    if (certificateId !== null) await removeCertificate(site, certificateId);
}

function isShown(kept: Kept, seen: readonly SeenCertificate[]): boolean {
  if (coveredNames(kept).length === 0) return true;
  const found = seen.find(({ id }) => id === kept.id);
  if (!found?.agrees) return false;
  const isSame = found.fingerprint === readCertificate(kept.chain).fingerprint;
  return isSame && coveredNames(kept).every((name) => found.names.includes(name));
}

/** A name that was added is covered only by the next one. */
function coveredNames({ chain, names }: Kept): string[] {
  const { names: made } = readCertificate(chain);
  return names.filter((name) => covers(made, name));
}
