/**
 * What DNS says of names before they are led to an environment: whoever connects a name is told what is wrong with it at
 * once, and not by a certificate that does not come.
 */
import { isIP } from 'node:net';
import type { FindingCode } from '../../adapters/dns/dns.ts';
import { Fault } from '../../fault.ts';
import type { DomainId, ServerId, WorkspaceId } from '../../ids.ts';
import { hostsOf } from '../environments/placement/placements.ts';
import { type DomainsContext, domainNotFound, verificationRecord } from './domains.ts';
import type { SslMode } from './name-queries.ts';
import * as queries from './queries.ts';
import { storedFinding } from './verify-domain.ts';

/** What is known to be wrong. What could not be found out, because a server did not answer, keeps nobody from going on. */
const wrong: ReadonlySet<string> = new Set<FindingCode>([
  'address_alias_broken',
  'address_elsewhere',
  'address_missing',
  'address_partly_elsewhere',
  'address_private',
  'address_v6_elsewhere',
  'caa_forbids',
  'caa_forbids_method',
  'dnssec_broken',
  'no_such_domain',
]);

export interface NamesToLookAt {
  readonly names: readonly string[];
  /** Whose record has proven them. */
  readonly domainId: DomainId;
  readonly sslMode: SslMode;
}

export async function lookAtNames(
  ctx: DomainsContext,
  workspaceId: WorkspaceId,
  serverId: ServerId,
  { names, domainId, sslMode }: NamesToLookAt,
  signal: AbortSignal,
): Promise<queries.StoredFinding[]> {
  const domain = await queries.findDomain(ctx.db, workspaceId, domainId);
  if (!domain) throw domainNotFound();
  const hosts = await hostsOf(ctx.db, workspaceId, serverId);
  const dns = await ctx.dns();
  const checks = names.map((hostname) =>
    dns.checkDomain(
      {
        hostname,
        record: verificationRecord(domain),
        // CAA binds the authority alone.
        authority: sslMode === 'auto' ? ctx.authority.caaNames : [],
        serverAddresses: hosts.filter((host) => isIP(host) !== 0),
      },
      signal,
    ),
  );
  const found = (await Promise.all(checks)).flatMap(({ findings }) => findings.map(storedFinding));
  // The proof was looked at when the domain was verified.
  const own = found.filter(({ code }) => !code.startsWith('record_'));
  return [...new Map(own.map((each) => [`${each.code} ${each.message}`, each])).values()];
}

export function refuseWrongDns(hostname: string, findings: readonly queries.StoredFinding[]): void {
  const [first, ...others] = findings.filter(({ code }) => wrong.has(code));
  if (!first) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more, see \`findings\`)`;
  throw new Fault('dns_wrong', `${hostname} cannot be served yet: ${first.message}${more}`, {
    hint: `${first.hint ?? 'The findings say what to set.'} Or connect it all the same with ?force=true: it is served as soon as DNS is right, and its certificate is tried for until then.`,
    errors: [first, ...others].map(({ message }) => ({ path: 'hostname', message })),
    findings,
  });
}
