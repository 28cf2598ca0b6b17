/**
 * A name that leads to an environment. It must lie under a domain that the workspace has proven. Its certificate is
 * asked for at once, or taken as it is given; until there is one, the name is served without.
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
} from '../environments/environment-state.ts';
import { placesOf } from '../environments/places.ts';
import { publishProjectEvent } from '../projects/projects.ts';
import * as certificates from './certificate-queries.ts';
import { enqueueCertificate, enqueueRouting } from './domain-work.ts';
import { ancestorsOf, certificateKeyPlace, type DomainsContext, notFound } from './domains.ts';
import * as names from './name-queries.ts';
import { namesOf } from './proxy-names.ts';
import * as queries from './queries.ts';
import { readName, type ShownName } from './read-names.ts';
import { readHostname, refuseForeign } from './register-domain.ts';
import { letGo, retireCertificate } from './remove-domain.ts';

export interface ConnectWish {
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

export type Connected = ShownName & { readonly operationId: OperationId | null };

export function connectDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  requestedBy: AccountId,
  wish: ConnectWish,
  saveResponse: SaveResponse,
): Promise<Answer<Connected>> {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    await queries.lockNames(tx);
    const { hostname, domainId } = await whichName(tx, workspaceId, wish);
    const { www = 'none', redirectHttp = true, hstsSeconds = null } = wish;
    const all = namesOf({ hostname, www });
    const taken = await names.findTaken(tx, all);
    const mine = refuseTaken(taken, workspaceId, environmentId, hostname);
    const sslMode = wish.ssl?.mode ?? 'auto';
    const before = mine?.certificateId ?? null;
    const certificateId = await certificateFor(tx, ctx, workspaceId, all, sslMode, wish, before, now);
    const id = mine?.id ?? newId<EnvironmentDomainId>();
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
    for (const stale of taken.filter((each) => each.workspaceId !== workspaceId))
      await letGoOfStale(tx, ctx, stale);
    await names.putName(tx, workspaceId, row, now);
    if (certificateId === null) await retireCertificate(tx, ctx, workspaceId, environment, before);
    const operationId = await work(tx, ctx, workspaceId, environment, {
      sslMode,
      certificateId,
      requestedBy,
    });
    const body = { ...(await readName(tx, workspaceId, environmentId, id)), operationId };
    const location = `/api/v1/environments/${environmentId}/domains/${id}`;
    const answer = await saveResponse(tx, { status: operationId === null ? 200 : 202, location, body });
    await publishProjectEvent(tx, workspaceId, environment.projectId, { reason: 'domain', environmentId });
    return answer;
  });
}

async function whichName(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { domainId, hostname: given, www = 'none' }: ConnectWish,
): Promise<{ hostname: string; domainId: DomainId }> {
  if ((domainId === undefined) === (given === undefined)) {
    throw new Fault('invalid_input', 'It is not clear which name is meant.', {
      errors: [{ path: 'hostname', message: 'is needed, or `domainId`, and not both' }],
    });
  }
  const found =
    domainId === undefined ? undefined : await queries.findDomain(tx, workspaceId, domainId as DomainId);
  if (domainId !== undefined && !found) throw notFound();
  const named = found?.hostname ?? readHostname(given ?? '', 'hostname');
  // With a redirect between the two, the bare one is what is kept.
  const hostname = www === 'none' ? named : named.replace(/^www\./, '');
  const path = found ? 'domainId' : 'hostname';
  // The one with `www.` may have an owner of its own.
  for (const each of namesOf({ hostname, www })) await refuseForeign(tx, workspaceId, each, path);
  const owner = await queries.nearestProven(tx, ancestorsOf(hostname));
  if (!owner || owner.workspaceId !== workspaceId) {
    throw new Fault('domain_not_verified', `${hostname} has not been proven to be yours yet.`, {
      hint: 'Register it, or a domain above it, with POST /domains, put the record into its zone, and verify it.',
      errors: [{ path, message: 'is not under a verified domain of yours' }],
    });
  }
  return { hostname, domainId: owner.id };
}

type Taken = Awaited<ReturnType<typeof names.findTaken>>[number];

/** The row that the environment has for it already; what leads elsewhere is not taken away. */
function refuseTaken(
  taken: readonly Taken[],
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  hostname: string,
): Taken | undefined {
  const ours = taken.filter((each) => each.workspaceId === workspaceId);
  const [other] = ours.filter((each) => each.environmentId !== environmentId || each.hostname !== hostname);
  if (!other) return ours[0];
  const where = other.environmentId === environmentId ? 'this environment' : 'another environment';
  throw new Fault('in_use', `${other.hostname} leads to ${where} already.`, {
    hint: 'Take it away there first with DELETE /environments/:id/domains/:domainId.',
    errors: [{ path: 'hostname', message: `leads to ${where} already` }],
  });
}

/** Of a workspace that had proven it once: whoever connects it now has proven it since. */
async function letGoOfStale(tx: Queryable, ctx: DomainsContext, stale: Taken): Promise<void> {
  const { workspaceId, environmentId } = stale;
  const environment = await readEnvironmentState(tx, workspaceId, environmentId);
  if (environment) await letGo(tx, ctx, workspaceId, environment, stale);
}

/** A name keeps its certificate's place for as long as it has one: what was there is shown until the new one is. */
async function certificateFor(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  all: readonly string[],
  mode: names.SslMode,
  { ssl }: ConnectWish,
  before: CertificateId | null,
  now: Date,
): Promise<CertificateId | null> {
  if (mode === 'off') return null;
  if (mode === 'auto') return (await placeFor(tx, workspaceId, 'acme', all, before, now)).id;
  const { certificate, privateKey } = ssl ?? {};
  const missing = [
    ...(certificate === undefined ? ['ssl.certificate'] : []),
    ...(privateKey === undefined ? ['ssl.privateKey'] : []),
  ];
  if (certificate === undefined || privateKey === undefined) {
    throw new Fault('invalid_input', 'A certificate of your own needs its chain and its key.', {
      errors: missing.map((path) => ({ path, message: 'is needed with `custom`' })),
    });
  }
  const checked = all.map((hostname) =>
    checkCustom({ certificate, privateKey: new Secret(privateKey), hostname, now }),
  );
  const [first] = checked;
  if (!first) throw new Error('a name without a name');
  const { id } = await placeFor(tx, workspaceId, 'custom', all, before, now);
  const { issuer, notBefore, notAfter } = first.facts;
  const keySealed = await ctx.sealer.seal(tx, certificateKeyPlace(workspaceId, id), first.privateKey);
  const issued = { chain: first.certificate, keySealed, issuer, notBefore, notAfter, renewAt: null };
  await certificates.setIssued(tx, workspaceId, id, issued, now);
  return id;
}

/** One for the same names is kept as it is: asking for another would only count against the authority's limits. */
async function placeFor(
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

/** What there is to do on the server; null where it stands on none yet: the first deployment does it then. */
async function work(
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
  if ((await placesOf(tx, workspaceId, environment.id)).length === 0) return null;
  const routing = await enqueueRouting(tx, ctx, workspaceId, environment, { requestedBy });
  if (sslMode === 'off' || certificateId === null) return routing;
  return enqueueCertificate(tx, ctx, workspaceId, certificateId, requestedBy);
}
