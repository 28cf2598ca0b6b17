/**
 * Checks a domain from outside, at its own name servers and at resolvers, and says in words what is right and what is
 * wrong with it. Changes nothing, remembers nothing between checks, and ends in bounded time whatever it is answered.
 */
import { DnsClient } from './client/dns-client.ts';
import { type KindOfAddress, resolversFrom } from './client/name-server.ts';
import { plainName } from './client/names.ts';
import type { DomainToCheck, Observation } from './client/observation.ts';
import { hasValue } from './client/observation.ts';
import { observe } from './client/observe.ts';
import { Resolvers } from './client/resolvers.ts';
import { addressFindings } from './findings/address-findings.ts';
import { caaFindings } from './findings/caa-findings.ts';
import type { Finding } from './findings/finding.ts';
import { answers, recordFindings } from './findings/record-findings.ts';
import { zoneFindings } from './findings/zone-findings.ts';

export type { DomainToCheck } from './client/observation.ts';
export type { Finding, FindingCode, Severity } from './findings/finding.ts';
export { findingCodes } from './findings/finding.ts';
export { type AsciiName, toAscii } from './to-ascii.ts';

export interface DnsOptions {
  /** Addresses of resolvers, with a port where it is not 53; none for those of this machine. */
  readonly servers: readonly string[];
  /** Whether name servers of zones may have private addresses. */
  readonly allowPrivate: boolean;
  readonly kindOfAddress: KindOfAddress;
  /** For one question over UDP, and again over TCP. */
  readonly timeoutMs?: number;
  /** For a whole check; what was found until then is told. */
  readonly checkMs?: number;
  readonly mostQueries?: number;
  /** Where zones' own servers listen: 53 on the internet, another one in tests. */
  readonly authorityPort?: number;
}

export interface DomainCheck {
  readonly isProven: boolean;
  /** The zone the record belongs into, where there is one. */
  readonly zone: string | undefined;
  readonly findings: readonly Finding[];
  readonly queries: number;
}

export interface Dns {
  /** Fails only when it is aborted: everything else is a finding. */
  checkDomain(domain: DomainToCheck, signal: AbortSignal): Promise<DomainCheck>;
}

export function createDns(options: DnsOptions): Dns {
  const { servers, allowPrivate, kindOfAddress, timeoutMs = 2_000, checkMs = 20_000 } = options;
  const { mostQueries = 150, authorityPort = 53 } = options;
  // More would only repeat each other, and each is asked every question.
  const known = resolversFrom(servers).slice(0, 4);
  return {
    checkDomain: async (given, signal) => {
      signal.throwIfAborted();
      const domain = inOneForm(given);
      const deadline = AbortSignal.timeout(checkMs);
      const client = new DnsClient({ timeoutMs, mostQueries, signal, deadline });
      const resolvers = new Resolvers(client, known);
      const zoneOptions = { client, resolvers, kindOfAddress, allowPrivate, port: authorityPort };
      const seen = await observe(zoneOptions, domain);
      return {
        isProven: isProven(seen),
        zone: seen.zone?.name || undefined,
        findings: findingsOf(seen),
        queries: client.count,
      };
    },
  };
}

function inOneForm({ hostname, record, ...rest }: DomainToCheck): DomainToCheck {
  return { hostname: plainName(hostname), record: { ...record, name: plainName(record.name) }, ...rest };
}

export function findingsOf(seen: Observation): Finding[] {
  return [...zoneFindings(seen), ...recordFindings(seen), ...addressFindings(seen), ...caaFindings(seen)];
}

/**
 * All that answer have to have it: one old server that somebody else got hold of must not be enough. Nor is an answer
 * that resolvers refuse for its signatures, or one over UDP that nobody else has seen.
 */
export function isProven(seen: Observation): boolean {
  const answering = answers(seen);
  const isEverywhere =
    answering.length > 0 && answering.every((each) => hasValue(each.seen, seen.domain.record.value));
  const isSeen = seen.resolvers.some(
    (each) => !each.isBogus && hasValue(each.seen, seen.domain.record.value),
  );
  return isEverywhere && (isSeen || seen.isConfirmed) && seen.bogus.length === 0;
}
