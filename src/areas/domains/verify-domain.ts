/**
 * The look at a domain's zone: whether our value stands there, and everything else that would keep its owner from what
 * they want. A name that was proven stays proven for some days without its record: a mistake in a zone must not take an
 * application off the air.
 */
import { isIP } from 'node:net';
import type { DomainCheck } from '../../adapters/dns/dns.ts';
import { after, day, hour, minute } from '../../clock.ts';
import { raiseNotice } from '../../events/notices.ts';
import type { DomainId, WorkspaceId } from '../../ids.ts';
import type { Queryable } from '../../store/database.ts';
import { readServer } from '../servers/read-server.ts';
import { type DomainStatus, type DomainsContext, notFound, proofOf, tellDomain } from './domains.ts';
import { environmentsBehind, projectsBehind } from './environments-behind.ts';
import type { ShownFinding } from './last-check.ts';
import * as queries from './queries.ts';
import { readDomain } from './read-domains.ts';
import { provenAbove, refuseForeign } from './register-domain.ts';

/** How long a proven name may be without its record before it is let go. */
const graceMs = 7 * day;

export async function verifyDomain(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: DomainId,
  signal: AbortSignal,
) {
  const domain = await queries.findDomain(ctx.db, workspaceId, id);
  if (!domain) throw notFound();
  const look = await (await ctx.dns()).checkDomain(
    {
      hostname: domain.hostname,
      record: proofOf(domain),
      authority: ctx.authority.caaNames,
      serverAddresses: await addressesBehind(ctx, workspaceId, domain),
    },
    signal,
  );
  await note(ctx, workspaceId, id, look);
  return readDomain(ctx.db, workspaceId, id);
}

/** Where the name itself should lead; names below it may lead elsewhere. A server known by a name alone says nothing. */
async function addressesBehind(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  { id, hostname }: queries.DomainRow,
): Promise<string[]> {
  const addresses = new Set<string>();
  for (const each of await environmentsBehind(ctx.db, workspaceId, id)) {
    if (each.serverId === null || each.hostname !== hostname) continue;
    const { host } = await readServer(ctx.db, workspaceId, each.serverId);
    if (isIP(host) !== 0) addresses.add(host);
  }
  return [...addresses];
}

/** Under the lock of all names, so that of two workspaces with the same value in one zone only one is first. */
async function note(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  id: DomainId,
  look: DomainCheck,
): Promise<void> {
  const now = ctx.clock.now();
  await ctx.db.transaction(async (tx) => {
    await queries.lockNames(tx);
    const before = await queries.findDomain(tx, workspaceId, id);
    if (!before) throw notFound();
    const above = await provenAbove(tx, workspaceId, before.hostname);
    const isProven = look.isProven || above !== undefined;
    if (isProven) await refuseForeign(tx, workspaceId, before.hostname, 'hostname');
    const lastCheck = { at: now.toISOString(), findings: shownFindings(look, above) };
    const seen = afterLook(before, isProven, now);
    await queries.setChecked(
      tx,
      workspaceId,
      id,
      { ...seen, lastCheck, checkAt: nextLook(seen, before, now) },
      now,
    );
    const isNews =
      seen.status !== before.status || (seen.missingSince === null) !== (before.missingSince === null);
    if (before.status === 'verified' && seen.status === 'failed')
      await noticeLost(tx, workspaceId, before, now);
    const reason = seen.missingSince !== null ? 'proof_missing' : 'checked';
    const news = { domainId: id, hostname: before.hostname, reason, status: seen.status };
    if (isNews) await tellDomain(tx, workspaceId, news);
  });
}

/** To the projects that it leads to, or to the workspace where there are none. */
async function noticeLost(
  tx: Queryable,
  workspaceId: WorkspaceId,
  { id, hostname }: queries.DomainRow,
  now: Date,
): Promise<void> {
  const reason = `The record that proved it has been missing for a week, so ${hostname} was let go.`;
  const key = `domain_lost:${id}:${now.toISOString()}`;
  const subject = { type: 'domain', id };
  for (const place of await projectsBehind(tx, workspaceId, await environmentsBehind(tx, workspaceId, id)))
    await raiseNotice(tx, {
      workspaceId,
      kind: 'domain_lost',
      subject,
      ...place,
      data: { hostname, reason },
      key: `${key}:${place.projectId ?? ''}`,
    });
}

interface AfterLook {
  readonly status: DomainStatus;
  readonly verifiedAt: Date | null;
  readonly missingSince: Date | null;
}

function afterLook(before: queries.DomainRow, isProven: boolean, now: Date): AfterLook {
  if (isProven) return { status: 'verified', verifiedAt: before.verifiedAt ?? now, missingSince: null };
  if (before.status !== 'verified') return { status: 'failed', verifiedAt: null, missingSince: null };
  const missingSince = before.missingSince ?? now;
  if (now.getTime() - missingSince.getTime() < graceMs) {
    return { status: 'verified', verifiedAt: before.verifiedAt, missingSince };
  }
  return { status: 'failed', verifiedAt: null, missingSince };
}

/** Soon while someone waits for it, then less and less often; what is proven is looked at twice a day. */
function nextLook(
  { status, missingSince }: AfterLook,
  { checks, createdAt }: queries.DomainRow,
  now: Date,
): Date {
  if (status === 'verified') return after(now, missingSince === null ? 12 * hour : hour);
  const age = now.getTime() - createdAt.getTime();
  if (age > 30 * day) return after(now, day);
  return after(now, Math.min(minute * 2 ** Math.min(checks, 8), age < 2 * day ? 10 * minute : 3 * hour));
}

/** Where a name above it is the proof, nobody has to put a record of its own. */
function shownFindings({ isProven, findings }: DomainCheck, above: string | undefined): ShownFinding[] {
  const shown = findings.map(({ code, severity, message, hint, evidence }) => ({
    code,
    severity,
    message,
    hint: hint ?? null,
    evidence: evidence ?? null,
  }));
  if (isProven || above === undefined) return shown;
  const message = `${above} is verified, which is proof for every name below it.`;
  const instead = { code: 'record_not_needed', severity: 'ok', message, hint: null, evidence: null } as const;
  return [instead, ...shown.filter(({ code }) => !code.startsWith('record_'))];
}
