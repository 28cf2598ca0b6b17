/**
 * Checks a domain's zone: whether our record is there, and everything else that would keep the name from being served. A
 * verified name stays verified for some days without its record: a mistake in a zone must not take an application offline.
 */
import { isIP } from 'node:net';
import type { DomainCheck, Finding } from '../../adapters/dns/dns.ts';
import { after, day, hour, minute } from '../../clock.ts';
import type { DomainId, WorkspaceId } from '../../ids.ts';
import { readEnvironmentState } from '../environments/environment-state.ts';
import { hostsOf } from '../environments/placement/placements.ts';
import { noticeDomainLost, publishDomainUpdate } from './domain-events.ts';
import { type DomainStatus, type DomainsContext, domainNotFound, verificationRecord } from './domains.ts';
import { listOfDomain } from './name-queries.ts';
import * as queries from './queries.ts';
import { readDomain } from './read-domains.ts';
import { refuseForeignName, verifiedParent } from './register-domain.ts';

/** How long a verified name may be without its record. */
const graceMs = 7 * day;

export async function verifyDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: DomainId,
  signal: AbortSignal,
) {
  const domain = await queries.findDomain(ctx.db, workspaceId, id);
  if (!domain) throw domainNotFound();
  const look = await (await ctx.dns()).checkDomain(
    {
      hostname: domain.hostname,
      record: verificationRecord(domain),
      authority: ctx.authority.caaNames,
      serverAddresses: await addressesOf(ctx, workspaceId, domain),
    },
    signal,
  );
  await saveCheck(ctx, workspaceId, id, look);
  return readDomain(ctx.db, workspaceId, id);
}

/** Where the name itself should point; names below it may point elsewhere. A server known by a name alone tells nothing. */
async function addressesOf(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  { id, hostname }: queries.DomainRow,
): Promise<string[]> {
  const addresses = new Set<string>();
  for (const each of await listOfDomain(ctx.db, workspaceId, id)) {
    if (each.hostname !== hostname) continue;
    const environment = await readEnvironmentState(ctx.db, workspaceId, each.environmentId);
    if (!environment || environment.serverId === null) continue;
    for (const host of await hostsOf(ctx.db, workspaceId, environment.serverId))
      if (isIP(host) !== 0) addresses.add(host);
  }
  return [...addresses];
}

/** Under the lock of all names, so that of two workspaces with their records in one zone only one is first. */
async function saveCheck(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: DomainId,
  look: DomainCheck,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await queries.lockNames(tx);
    const before = await queries.findDomain(tx, workspaceId, id);
    if (!before) throw domainNotFound();
    const parent = await verifiedParent(tx, workspaceId, before.hostname);
    const isVerified = look.isProven || parent !== undefined;
    if (isVerified) await refuseForeignName(tx, workspaceId, before.hostname, 'hostname');
    const lastCheck = { at: now.toISOString(), findings: findingsOf(look, parent) };
    const result = resultOf(before, isVerified, now);
    const { status, missingSince } = result;
    const checked = { ...result, lastCheck, checkAt: nextCheck(result, before, now) };
    await queries.setChecked(tx, workspaceId, id, checked, now);
    if (before.status === 'verified' && status === 'failed')
      await noticeDomainLost(tx, workspaceId, before, now);
    if (status === before.status && (missingSince === null) === (before.missingSince === null)) return;
    const reason = missingSince !== null ? 'proof_missing' : 'checked';
    await publishDomainUpdate(tx, workspaceId, { domainId: id, hostname: before.hostname, reason, status });
  });
}

interface CheckResult {
  readonly status: DomainStatus;
  readonly verifiedAt: Date | null;
  readonly missingSince: Date | null;
}

function resultOf(before: queries.DomainRow, isVerified: boolean, now: Date): CheckResult {
  if (isVerified) return { status: 'verified', verifiedAt: before.verifiedAt ?? now, missingSince: null };
  if (before.status !== 'verified') return { status: 'failed', verifiedAt: null, missingSince: null };
  const missingSince = before.missingSince ?? now;
  if (now.getTime() - missingSince.getTime() < graceMs) {
    return { status: 'verified', verifiedAt: before.verifiedAt, missingSince };
  }
  return { status: 'failed', verifiedAt: null, missingSince };
}

/** Soon while someone waits for it, then less and less often; what is verified is checked twice a day. */
function nextCheck(
  { status, missingSince }: CheckResult,
  { checks, createdAt }: queries.DomainRow,
  now: Date,
): Date {
  if (status === 'verified') return after(now, missingSince === null ? 12 * hour : hour);
  const age = now.getTime() - createdAt.getTime();
  if (age > 30 * day) return after(now, day);
  return after(now, Math.min(minute * 2 ** Math.min(checks, 8), age < 2 * day ? 10 * minute : 3 * hour));
}

export function storedFinding({ code, severity, message, hint, evidence }: Finding): queries.StoredFinding {
  return { code, severity, message, hint: hint ?? null, evidence: evidence ?? null };
}

/** Below a verified parent, a name needs no record of its own. */
function findingsOf(
  { isProven, findings }: DomainCheck,
  parent: string | undefined,
): queries.StoredFinding[] {
  const stored = findings.map(storedFinding);
  if (isProven || parent === undefined) return stored;
  const message = `${parent} is verified, which covers every name below it.`;
  const instead = { code: 'record_not_needed', severity: 'ok', message, hint: null, evidence: null } as const;
  return [instead, ...stored.filter(({ code }) => !code.startsWith('record_'))];
}
