/**
 * Domains: names that a workspace has proven to be its own, the environments they lead to, and their certificates. Owns
 * the proof, the look that repeats it, and every key; refuses to lead a name anywhere for a workspace that has not
 * proven it, or that another has proven, and to take a certificate that would not serve.
 */
import type { Dns } from '../../adapters/dns/dns.ts';
import type { Clock } from '../../clock.ts';
import { appendEvents } from '../../events/events.ts';
import { Fault } from '../../fault.ts';
import type { AcmeAccountId, CertificateId, DomainId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database, Queryable } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { ServerAccess } from '../servers/servers.ts';
import type { Authority } from './authority.ts';

export type DomainStatus = 'pending' | 'verified' | 'failed';

export interface DomainsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly servers: ServerAccess;
  readonly dns: () => Promise<Dns>;
  readonly authority: Authority;
}

export function notFound(): Fault {
  return new Fault('not_found', 'No such domain.');
}

export function certificateKeyPlace(workspaceId: WorkspaceId, id: CertificateId) {
  return { workspaceId, table: 'certificates', row: id, column: 'key_sealed' } as const;
}

export function accountKeyPlace(workspaceId: WorkspaceId, id: AcmeAccountId) {
  return { workspaceId, table: 'acme_accounts', row: id, column: 'key_sealed' } as const;
}

/** The name of the record, and what has to stand there. */
export function proofOf({ hostname, token }: { readonly hostname: string; readonly token: string }) {
  const bare = hostname.startsWith('*.') ? hostname.slice(2) : hostname;
  return { type: 'TXT' as const, name: `_slipway.${bare}`, value: `slipway-verification=${token}` };
}

/** In the transaction that changed it, last. */
export function tellDomain(
  tx: Queryable,
  workspaceId: WorkspaceId,
  news: {
    readonly domainId: DomainId;
    readonly hostname: string;
    readonly reason: string;
    readonly status?: string;
  },
) {
  return appendEvents(tx, { workspaceId, feedId: workspaceId }, [{ kind: 'domain_updated', data: news }]);
}

/** The name itself and everything above it, with at least two labels: whoever has proven one of them has it. */
export function ancestorsOf(hostname: string): string[] {
  const labels = (hostname.startsWith('*.') ? hostname.slice(2) : hostname).split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}
