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
import type { Answer, Remember } from '../../store/answer.ts';
import type { Queryable } from '../../store/database.ts';
import { type EnvironmentState, lockEnvironment } from '../environments/environment-state.ts';
import { placesOf } from '../environments/places.ts';
import { tellProject } from '../projects/projects.ts';
import * as certificates from './certificate-queries.ts';
import { enqueueCertificate, enqueueRouting } from './domain-work.ts';
import { ancestorsOf, certificateKeyPlace, type DomainsContext, notFound } from './domains.ts';
import * as names from './name-queries.ts';
import { namesOf } from './proxy-names.ts';
import * as queries from './queries.ts';
import { readName, type ShownName } from './read-names.ts';
import { readHostname, refuseForeign } from './register-domain.ts';

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
  remember: Remember,
): Promise<Answer<Connected>> {
  const now = ctx.clock.now();
  return ctx.db.transaction(async (tx) => {
    const environment = await lockEnvironment(tx, workspaceId, environmentId);
    await queries.lockNames(tx);
    const { hostname, domainId } = await whichName(tx, workspaceId, wish);
    const { www = 'none', redirectHttp = true, hstsSeconds = null } = wish;
    const mine = await refuseTaken(tx, workspaceId, environmentId, namesOf({ hostname, www }));
    const sslMode = wish.ssl?.mode ?? 'auto';
    const all = namesOf({ hostname, www });
    const certificateId = await certificateFor(tx, ctx, workspaceId, all, sslMode, wish, mine, now);
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
    await names.putName(tx, workspaceId, row, now);
    const operationId = await work(tx, ctx, workspaceId, environment, {
      sslMode,
      certificateId,
      requestedBy,
    });
    const body = { ...(await readName(tx, workspaceId, environmentId, id)), operationId };
    const location = `/api/v1/environments/${environmentId}/domains/${id}`;
    const answer = await remember(tx, { status: operationId === null ? 200 : 202, location, body });
    await tellProject(tx, workspaceId, environment.projectId, { reason: 'domain', environmentId });
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
  await refuseForeign(tx, workspaceId, hostname, path);
  const owner = await queries.nearestProven(tx, ancestorsOf(hostname));
  if (!owner || owner.workspaceId !== workspaceId) {
    throw new Fault('domain_not_verified', `${hostname} has not been proven to be yours yet.`, {
      hint: 'Register it, or a domain above it, with POST /domains, put the record into its zone, and verify it.',
      errors: [{ path, message: 'is not under a verified domain of yours' }],
    });
  }
  return { hostname, domainId: owner.id };
}

/** The row that the environment has for it already; what leads elsewhere is not taken away. */
async function refuseTaken(
  tx: Queryable,
  workspaceId: WorkspaceId,
  environmentId: EnvironmentId,
  wanted: readonly string[],
) {
  const taken = await names.findTaken(tx, wanted);
  const [foreign] = taken.filter(
    (each) => each.workspaceId !== workspaceId || each.environmentId !== environmentId,
  );
  if (foreign) {
    throw new Fault('in_use', `${foreign.hostname} leads to another environment.`, {
      hint: 'Take it away there first with DELETE /environments/:id/domains/:domainId.',
      errors: [{ path: 'hostname', message: 'leads to another environment' }],
    });
  }
  return taken[0];
}

async function certificateFor(
  tx: Queryable,
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  all: readonly string[],
  mode: names.SslMode,
  { ssl }: ConnectWish,
  mine: { readonly id: EnvironmentDomainId } | undefined,
  now: Date,
): Promise<CertificateId | null> {
  if (mode === 'off') return null;
  if (mode === 'auto')
    return (
      (await sameCertificate(tx, workspaceId, mine, all)) ?? newCertificate(tx, workspaceId, 'acme', all, now)
    );
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
  const id = await newCertificate(tx, workspaceId, 'custom', all, now);
  const { issuer, notBefore, notAfter } = first.facts;
  const keySealed = await ctx.sealer.seal(tx, certificateKeyPlace(workspaceId, id), first.privateKey);
  const issued = { chain: first.certificate, keySealed, issuer, notBefore, notAfter, renewAt: null };
  await certificates.setIssued(tx, workspaceId, id, issued, now);
  return id;
}

/** One for the same names is kept: asking for another would only count against the authority's limits. */
async function sameCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  mine: { readonly id: EnvironmentDomainId } | undefined,
  all: readonly string[],
): Promise<CertificateId | undefined> {
  const before = mine && (await names.findName(tx, workspaceId, mine.id));
  if (!before?.certificateId) return undefined;
  const found = await certificates.findCertificate(tx, workspaceId, before.certificateId);
  const isSame = found?.source === 'acme' && [...found.names].sort().join() === [...all].sort().join();
  return isSame ? found.id : undefined;
}

async function newCertificate(
  tx: Queryable,
  workspaceId: WorkspaceId,
  source: 'acme' | 'custom',
  all: readonly string[],
  now: Date,
): Promise<CertificateId> {
  const id = newId<CertificateId>();
  await certificates.insertCertificate(tx, workspaceId, { id, source, names: all }, now);
  return id;
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
  const routing = await enqueueRouting(tx, ctx, workspaceId, environment, requestedBy);
  if (sslMode === 'off' || certificateId === null) return routing;
  return enqueueCertificate(tx, ctx, workspaceId, certificateId, requestedBy);
}
