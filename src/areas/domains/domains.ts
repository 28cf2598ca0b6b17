/**
 * Domains: names that a workspace has verified to be its own, the environments they point to, and their certificates.
 * Owns the verification, the check that repeats it, and every key; refuses to route a name for a workspace that has not
 * verified it, or that another has verified, and to take a certificate that would not serve.
 */
import type { Acme } from '../../adapters/acme/acme.ts';
import type { Dns } from '../../adapters/dns/dns.ts';
import type { Clock } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { AcmeAccountId, CertificateId, WorkspaceId } from '../../ids.ts';
import type { OperationQueue } from '../../operations/queue.ts';
import type { Database } from '../../store/database.ts';
import type { Sealer } from '../../store/sealed.ts';
import type { TargetAccess } from '../environments/placement/open-target.ts';

/** The certificate authority, as the settings say. */
export interface CertificateAuthority {
  readonly directoryUrl: string;
  /** What a CAA record for it names; empty where that is not known. */
  readonly caaNames: readonly string[];
  readonly acme: () => Promise<Acme>;
}

export type DomainStatus = 'pending' | 'verified' | 'failed';

export interface DomainsContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly queue: OperationQueue;
  readonly servers: TargetAccess;
  readonly dns: () => Promise<Dns>;
  readonly authority: CertificateAuthority;
}

export function domainNotFound(): Fault {
  return new Fault('not_found', 'No such domain.');
}

export function certificateKeyPlace(workspaceId: WorkspaceId, id: CertificateId) {
  return { workspaceId, table: 'certificates', row: id, column: 'key_sealed' } as const;
}

export function accountKeyPlace(workspaceId: WorkspaceId, id: AcmeAccountId) {
  return { workspaceId, table: 'acme_accounts', row: id, column: 'key_sealed' } as const;
}

/** The record that proves who has the name. */
export function verificationRecord({
  hostname,
  token,
}: {
  readonly hostname: string;
  readonly token: string;
}) {
  const bare = hostname.startsWith('*.') ? hostname.slice(2) : hostname;
  return { type: 'TXT' as const, name: `_slipway.${bare}`, value: `slipway-verification=${token}` };
}

/** The name itself and its parents, with at least two labels: whoever has verified one of them has it. */
export function ancestorsOf(hostname: string): string[] {
  const labels = (hostname.startsWith('*.') ? hostname.slice(2) : hostname).split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
}

/** The names of certificate authorities in CAA records; those of others are not known. */
export function caaNamesOf(directoryUrl: string): string[] {
  const host = new URL(directoryUrl).hostname;
  const known: readonly (readonly [string, string])[] = [
    ['letsencrypt.org', 'letsencrypt.org'],
    ['pki.goog', 'pki.goog'],
    ['zerossl.com', 'sectigo.com'],
    ['buypass.com', 'buypass.com'],
    ['ssl.com', 'ssl.com'],
  ];
  return known.filter(([suffix]) => host === suffix || host.endsWith(`.${suffix}`)).map(([, name]) => name);
}
