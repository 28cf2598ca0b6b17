/**
 * Points a name to an environment. It must be under a domain that the workspace has verified. Its certificate is ordered
 * at once, or taken as it is given; until there is one, the name is served without.
 */
import { checkCustom } from '../../adapters/certificates/check-custom.ts';
import { Fault } from '../../fault.ts';
import {
  type AccountId,
  type CertificateId,
  type DomainId,
  type EnvironmentDomainId,
  type EnvironmentId,
  newId,
  type OperationId,
  type WorkspaceId,
} from '../../ids.ts';
import { Secret } from '../../secret.ts';
import type { Answer, SaveResponse } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import {
  type EnvironmentState,
  lockEnvironment,
  readEnvironmentState,
  requireEnvironment,
} from '../environments/environment-state.ts';
import { placementsOf } from '../environments/placement/placements.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import * as certificates from './certificate-queries.ts';
import { enqueueCertificate, enqueueRouting } from './domain-work.ts';
import { ancestorsOf, certificateKeyPlace, type DomainsContext, domainNotFound } from './domains.ts';
import { lookAtNames, refuseWrongDns } from './look-at-names.ts';
import * as names from './name-queries.ts';
import { namesOf } from './proxy-names.ts';
import * as queries from './queries.ts';
import { type NameView, readName } from './read-names.ts';
import { readHostname, refuseForeignName } from './register-domain.ts';
import { disconnectName, retireCertificate } from './remove-domain.ts';

export interface ConnectDomainInput {
  readonly domainId?: string;
  readonly hostname?: string;
  readonly ssl?: {
    readonly mode: names.SslMode;
    readonly certificate?: string;
    readonly privateKey?: string;
  };
  readonly redirectHttp?: boolean;
  readonly www?: names.Www;
  readonly hstsSeconds?: number | null;
}

export type ConnectedName = NameView & {
  readonly operationId: OperationId | null;
  readonly findings: readonly queries.StoredFinding[];
};

export async function connectDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  requestedBy: AccountId,
  input: ConnectDomainInput,
  { force = false, signal }: { readonly force: boolean | undefined; readonly signal: AbortSignal },
  saveResponse: SaveResponse,
): Promise<Answer<ConnectedName>> {
  const findings = await lookFirst(ctx, workspaceId, environmentId, input, force, signal);
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    await queries.lockNames(tx);
    const { hostname, domainId } = await resolveName(tx, workspaceId, input);
    const { www = 'none', redirectHttp = true, hstsSeconds = null } = input;
    const all = namesOf({ hostname, www });
    const conflicting = await names.findConflicting(tx, all);
    const existing = refuseInUse(conflicting, workspaceId, environmentId, hostname);
    const sslMode = input.ssl?.mode ?? 'auto';
    const before = existing?.certificateId ?? null;
    const certificateId = await certificateFor(tx, ctx, workspaceId, all, sslMode, input, before, now);
    const id = existing?.id ?? newId<EnvironmentDomainId>();
    const row = {
      id,
      environmentId,
      domainId,
      hostname,
      sslMode,
      certificateId,
      redirectHttp,
      www,
      hstsSeconds,
    };
    for (const stale of conflicting.filter((each) => each.workspaceId !== workspaceId))
      await removeStale(tx, ctx, stale);
    await names.saveName(tx, workspaceId, row, now);
    if (certificateId === null) await retireCertificate(tx, ctx, workspaceId, environment, before);
    const operationId = await enqueueWork(tx, ctx, workspaceId, environment, {
      sslMode,
      certificateId,
      requestedBy,
    });
    const body = { ...(await readName(tx, workspaceId, environmentId, id)), operationId, findings };
    const location = `/api/v1/environments/${environmentId}/domains/${id}`;
    const answer = await saveResponse(tx, { status: operationId === null ? 200 : 202, location, body });
    await publishProjectEvent(tx, workspaceId, environment.projectId, { reason: 'domain', environmentId });
    return answer;
  });
}

/**
 * Before the transaction, which must not wait for name servers. Wrong DNS refuses a name that is new; one that is
 * connected may be changed all the same. Where there is no server yet, nobody can know where the name should point.
 */
async function lookFirst(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  input: ConnectDomainInput,
  force: boolean,
  signal: AbortSignal,
): Promise<queries.StoredFinding[]> {
  const environment = await requireEnvironment(ctx.db, workspaceId, environmentId);
  const { hostname, domainId } = await resolveName(ctx.db, workspaceId, input);
  const all = namesOf({ hostname, www: input.www ?? 'none' });
  const known = refuseInUse(await names.findConflicting(ctx.db, all), workspaceId, environmentId, hostname);
  if (environment.serverId === null) return [];
  const asked = { names: all, domainId, sslMode: input.ssl?.mode ?? 'auto' };
  const findings = await lookAtNames(ctx, workspaceId, environment.serverId, asked, signal);
  if (!known && !force) refuseWrongDns(hostname, findings);
  return findings;
}

async function resolveName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { domainId, hostname: given, www = 'none' }: ConnectDomainInput,
): Promise<{ hostname: string; domainId: DomainId }> {
  if ((domainId === undefined) === (given === undefined)) {
    throw new Fault('invalid_input', 'Name the hostname or the domain.', {
      errors: [{ path: 'hostname', message: 'is required, or `domainId`, and not both' }],
    });
  }
  const found =
    domainId === undefined ? undefined : await queries.findDomain(tx, workspaceId, domainId as DomainId);
  if (domainId !== undefined && !found) throw domainNotFound();
  const named = found?.hostname ?? readHostname(given ?? '', 'hostname');
  // With a redirect between the two, the bare one is what is stored.
  const hostname = www === 'none' ? named : named.replace(/^www\./, '');
  const path = found ? 'domainId' : 'hostname';
  // The one with `www.` may have an owner of its own.
  for (const each of namesOf({ hostname, www })) await refuseForeignName(tx, workspaceId, each, path);
  const owner = await queries.nearestVerified(tx, ancestorsOf(hostname));
  if (!owner || owner.workspaceId !== workspaceId) {
    throw new Fault('domain_not_verified', `${hostname} has not been verified yet.`, {
      hint: 'Register it, or a parent domain, with POST /domains, put the record into its zone, and verify it.',
      errors: [{ path, message: 'is not under a verified domain of yours' }],
    });
  }
  return { hostname, domainId: owner.id };
}

type NameInUse = Awaited<ReturnType<typeof names.findConflicting>>[number];

/** The row that the environment has for it already; a name of another one is refused. */
function refuseInUse(
  conflicting: readonly NameInUse[],
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  hostname: string,
): NameInUse | undefined {
  const ours = conflicting.filter((each) => each.workspaceId === workspaceId);
  const [other] = ours.filter((each) => each.environmentId !== environmentId || each.hostname !== hostname);
  if (!other) return ours[0];
  const where = other.environmentId === environmentId ? 'this environment' : 'another environment';
  throw new Fault('in_use', `${other.hostname} points to ${where} already.`, {
    hint: 'Remove it there first with DELETE /environments/:id/domains/:domainId.',
    errors: [{ path: 'hostname', message: `points to ${where} already` }],
  });
}

/** Of a workspace that had verified it once: whoever connects it now has verified it since. */
async function removeStale(tx: Queryable, ctx: DomainsContext, stale: NameInUse): Promise<void> {
  const { workspaceId, environmentId } = stale;
  const environment = await readEnvironmentState(tx, workspaceId, environmentId);
  if (environment) await disconnectName(tx, ctx, workspaceId, environment, stale);
}

/** A name keeps its certificate's row for as long as it has one: the old certificate serves until the new one does. */
async function certificateFor(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  all: readonly string[],
  mode: names.SslMode,
  { ssl }: ConnectDomainInput,
  before: CertificateId | null,
  now: Date,
): Promise<CertificateId | null> {
  if (mode === 'off') return null;
  if (mode === 'auto') return (await certificateRow(tx, workspaceId, 'acme', all, before, now)).id;
  const { certificate, privateKey } = ssl ?? {};
  const missing = [
    ...(certificate === undefined ? ['ssl.certificate'] : []),
    ...(privateKey === undefined ? ['ssl.privateKey'] : []),
  ];
  if (certificate === undefined || privateKey === undefined) {
    throw new Fault('invalid_input', 'A custom certificate needs its chain and its key.', {
      errors: missing.map((path) => ({ path, message: 'is required with `custom`' })),
    });
  }
  const checked = all.map((hostname) =>
    checkCustom({ certificate, privateKey: new Secret(privateKey), hostname, now }),
  );
  const [first] = checked;
  if (!first) throw new Error('a certificate without a name');
  const { id } = await certificateRow(tx, workspaceId, 'custom', all, before, now);
  const { issuer, notBefore, notAfter } = first.facts;
  const keySealed = await ctx.sealer.seal(tx, certificateKeyPlace(workspaceId, id), first.privateKey);
  const issued = { chain: first.certificate, keySealed, issuer, notBefore, notAfter, renewAt: null };
  await certificates.setCertificateIssued(tx, workspaceId, id, issued, now);
  return id;
}

/** One for the same names is kept as it is: ordering another would only count against the authority's limits. */
async function certificateRow(
  tx: Queryable,
  workspaceId: WorkspaceId,
  source: 'acme' | 'custom',
  all: readonly string[],
  before: CertificateId | null,
  now: Date,
): Promise<{ readonly id: CertificateId }> {
  const found = before === null ? undefined : await certificates.findCertificate(tx, workspaceId, before);
  if (!found) {
    const id = newId<CertificateId>();
    await certificates.insertCertificate(tx, workspaceId, { id, source, names: all }, now);
    return { id };
  }
  const isSame = found.source === source && [...found.names].sort().join() === [...all].sort().join();
  if (!isSame) await certificates.changeCertificate(tx, workspaceId, found.id, { source, names: all }, now);
  return found;
}

/** What there is to do on the server; null where the environment has none yet: the first deployment does it then. */
async function enqueueWork(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environment: EnvironmentState,
  {
    sslMode,
    certificateId,
    requestedBy,
  }: { sslMode: names.SslMode; certificateId: CertificateId | null; requestedBy: AccountId },
): Promise<OperationId | null> {
  if ((await placementsOf(tx, workspaceId, environment.id)).length === 0) return null;
  const routing = await enqueueRouting(tx, ctx, workspaceId, environment, { requestedBy });
  if (sslMode === 'off' || certificateId === null) return routing;
  return enqueueCertificate(tx, ctx, workspaceId, certificateId, requestedBy);
}
