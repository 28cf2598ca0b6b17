/** What happens to domains by itself: they are looked at again, and their certificates are renewed in time. */
import { after, day, hour, minute } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { Schedule } from '../../operations/queue.ts';
import { takeDueCertificates, takeExpiring } from './certificate-queries.ts';
import { enqueueCertificate } from './domain-work.ts';
import type { DomainsContext } from './domains.ts';
import { takeDueDomains } from './queries.ts';
import { noticeCertificate, tellCertificate } from './tell-certificate.ts';
import { verifyDomain } from './verify-domain.ts';

const atOnce = 10;
const lookLimitMs = 45_000;
const mostAtOnce = 100;
/** A certificate that was not renewed by then needs a person. */
const warnMs = 14 * day;

export function checkDomainsSchedule(ctx: DomainsContext): Schedule {
  return { name: 'check-domains', cron: '* * * * *', timezone: 'UTC', run: () => checkDueDomains(ctx) };
}

export async function checkDueDomains(ctx: DomainsContext): Promise<void> {
  for (;;) {
    const now = ctx.clock.now();
    const due = await takeDueDomains(ctx.db, now, after(now, 10 * minute), atOnce);
    await Promise.all(
      due.map(async ({ workspaceId, id }) => {
        try {
          await verifyDomain(ctx, workspaceId, id, AbortSignal.timeout(lookLimitMs));
        } catch (error) {
          // Deleted meanwhile, or proven by another: the next look, or its owner, will see.
          if (!(error instanceof Fault) && !isTimeout(error)) throw error;
        }
      }),
    );
    if (due.length < atOnce) return;
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
  const due = await takeDueCertificates(ctx.db, now, after(now, hour), mostAtOnce);
  for (const { workspaceId, id } of due)
    await ctx.db.transaction((tx) => enqueueCertificate(tx, ctx, workspaceId, id));
  await ctx.db.transaction(async (tx) => {
    const expiring = await takeExpiring(tx, after(now, warnMs), now, mostAtOnce);
    for (const { workspaceId, notAfter, ...row } of expiring) {
      const ends = notAfter.toISOString();
      await noticeCertificate(tx, workspaceId, row, 'certificate_expiring', ends, { notAfter: ends });
    }
    // Last in the transaction, each feed in turn.
    for (const { workspaceId, ...row } of expiring) await tellCertificate(tx, workspaceId, row, 'expiring');
  });
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}
