/**
 * Looks at a domain from outside: at its own name servers and at resolvers, and says in words what is right and what
 * is wrong with it. Changes nothing, remembers nothing between looks, and ends in bounded time whatever it is answered.
 */
import { type Clock, systemClock } from '../../clock.ts';
import { addressFindings } from './address-findings.ts';
import { Asking } from './asking.ts';
import { caaFindings } from './caa-findings.ts';
import type { Finding } from './finding.ts';
import { look } from './look.ts';
import { type KindOfAddress, resolversFrom } from './name-server.ts';
import { plainName } from './names.ts';
import { answers, recordFindings } from './record-findings.ts';
import { Resolvers } from './resolvers.ts';
import type { DomainToLookAt, Seen } from './seen.ts';
import { hasValue } from './seen-text.ts';
import { zoneFindings } from './zone-findings.ts';

export type { Finding, FindingCode, Severity } from './finding.ts';
export { findingCodes } from './finding.ts';
export type { DomainToLookAt } from './seen.ts';
export { type AsciiName, toAscii } from './to-ascii.ts';

export interface DnsOptions {
  /** Addresses of resolvers, with a port where it is not 53; none for those of this machine. */
  readonly servers: readonly string[];
  /** Whether name servers of zones may have private addresses. */
  readonly allowPrivate: boolean;
  readonly kindOfAddress: KindOfAddress;
  /** For one question over UDP, and again over TCP. */
  readonly timeoutMs?: number;
  /** For a whole look; what was found until then is told. */
  readonly lookMs?: number;
  readonly mostQueries?: number;
  /** Where zones' own servers listen: 53 on the internet, another one in tests. */
  readonly authorityPort?: number;
  readonly clock?: Clock;
}

export interface DomainLook {
  readonly isProven: boolean;
  readonly checkedAt: Date;
  /** The zone the record belongs into, where there is one. */
  readonly zone: string | undefined;
  readonly findings: readonly Finding[];
  readonly queries: number;
}

export interface Dns {
  /** Fails only when it is aborted: everything else is a finding. */
  lookAtDomain(domain: DomainToLookAt, signal: AbortSignal): Promise<DomainLook>;
}

export function createDns(options: DnsOptions): Dns {
  const { servers, allowPrivate, kindOfAddress, timeoutMs = 2_000, lookMs = 20_000 } = options;
  const { mostQueries = 150, authorityPort = 53, clock = systemClock } = options;
  // More would only repeat each other, and each is asked every question.
  const known = resolversFrom(servers).slice(0, 4);
  return {
    lookAtDomain: async (given, signal) => {
      signal.throwIfAborted();
      const domain = inOneForm(given);
      const deadline = AbortSignal.timeout(lookMs);
      const asking = new Asking({ timeoutMs, mostQueries, signal, deadline });
      const resolvers = new Resolvers(asking, known);
      const zoneOptions = { asking, resolvers, kindOfAddress, allowPrivate, port: authorityPort };
      const seen = await look(zoneOptions, domain);
      return {
        isProven: isProven(seen),
        checkedAt: clock.now(),
        zone: seen.zone?.name || undefined,
        findings: findingsOf(seen),
        queries: asking.count,
      };
    },
  };
}

function inOneForm({ hostname, record, ...rest }: DomainToLookAt): DomainToLookAt {
  return { hostname: plainName(hostname), record: { ...record, name: plainName(record.name) }, ...rest };
}

export function findingsOf(seen: Seen): Finding[] {
  return [...zoneFindings(seen), ...recordFindings(seen), ...addressFindings(seen), ...caaFindings(seen)];
}

/**
 * All that answer have to have it: one old server that somebody else got hold of must not be enough. Nor is an answer
 * that resolvers refuse for its signatures, or one over UDP that nobody else has seen.
 */
export function isProven(seen: Seen): boolean {
  const answering = answers(seen);
  const isEverywhere =
    answering.length > 0 && answering.every((each) => hasValue(each.seen, seen.domain.record.value));
  const isSeen = seen.resolvers.some(
    (each) => !each.isBogus && hasValue(each.seen, seen.domain.record.value),
  );
  return isEverywhere && (isSeen || seen.isConfirmed) && seen.bogus.length === 0;
}
