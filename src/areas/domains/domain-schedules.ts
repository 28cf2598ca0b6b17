/** The schedules of domains: they are checked again, and their certificates are renewed in time. */
import { after, day, hour, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { Schedule } from '../../operations/queue.ts';
import { sideBySide } from '../../side-by-side.ts';
import { takeDueCertificates, takeExpiring } from './certificate-queries.ts';
import { noticeCertificate, publishCertificateUpdate } from './domain-events.ts';
import { enqueueCertificate } from './domain-work.ts';
import type { DomainsContext } from './domains.ts';
import { takeDueDomains } from './queries.ts';
import { verifyDomain } from './verify-domain.ts';

const checkTimeoutMs = 45_000;
const limit = 100;
const fairness = { atOnce: 20, ofOne: 3, withinMs: minute } as const;
/** A certificate that was not renewed by then needs a person. */
const warnMs = 14 * day;

export function checkDomainsSchedule(ctx: DomainsContext): Schedule {
  return { name: 'check-domains', cron: '* * * * *', timezone: 'UTC', run: () => checkDueDomains(ctx) };
}

export async function checkDueDomains(ctx: DomainsContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await takeDueDomains(ctx.db, { now, next: after(now, 10 * minute), limit });
    await sideBySide(due, fairness, async ({ workspaceId, id }) => {
      try {
        await verifyDomain(ctx, workspaceId, id, AbortSignal.timeout(checkTimeoutMs));
      } catch (error) {
        // Deleted meanwhile, or verified by another workspace: the next check shows it.
        if (!(error instanceof Fault) && !isTimeout(error)) throw error;
      }
    });
    if (due.length < limit) return;
  }
}

export function renewCertificatesSchedule(ctx: DomainsContext): Schedule {
  return {
    name: 'renew-certificates',
    cron: '* * * * *',
    timezone: 'UTC',
    run: () => renewDueCertificates(ctx),
  };
}

export async function renewDueCertificates(ctx: DomainsContext): Promise<void> {
  const now = ctx.clock.now();
  const due = await takeDueCertificates(ctx.db, { now, next: after(now, hour), limit });
  for (const { workspaceId, id } of due)
    await ctx.db.transaction((tx) => enqueueCertificate(tx, ctx, workspaceId, id));
  await ctx.db.transaction(async (tx) => {
    const expiring = await takeExpiring(tx, after(now, warnMs), now, limit);
    for (const { workspaceId, notAfter, ...row } of expiring) {
      const ends = notAfter.toISOString();
      await noticeCertificate(tx, workspaceId, row, 'certificate_expiring', ends, { notAfter: ends });
    }
    // Last in the transaction, each feed in turn.
    for (const { workspaceId, ...row } of expiring)
      await publishCertificateUpdate(tx, workspaceId, row, 'expiring');
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
