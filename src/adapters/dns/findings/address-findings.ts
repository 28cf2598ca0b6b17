/** What is to be said about where the name points, and what stands between it and the server. */
import { isIPv6 } from 'node:net';
import type { Followed } from '../client/follow-aliases.ts';
import type { Observation } from '../client/observation.ts';
import { cdnOf } from './cdn.ts';
import { type Finding, howLong, listed } from './finding.ts';
import { isUnregistered } from './record-findings.ts';

interface Pointing {
  readonly seen: Observation;
  readonly hostname: string;
  readonly aliases: readonly string[];
  readonly addresses: readonly string[];
  readonly ours: readonly string[];
  readonly elsewhere: readonly string[];
  readonly evidence: string;
}

export function addressFindings(seen: Observation): Finding[] {
  if (isUnregistered(seen)) return [];
  const { A, AAAA } = seen.addresses;
  const addresses = [...addressesIn(A), ...addressesIn(AAAA)];
  const aliases = A.aliases.length >= AAAA.aliases.length ? A.aliases : AAAA.aliases;
  const { hostname } = seen.domain;
  const server = seen.domain.serverAddresses.map(normal);
  const pointing: Pointing = {
    seen,
    hostname,
    aliases,
    addresses,
    ours: addresses.filter((address) => server.includes(address)),
    elsewhere: addresses.filter((address) => !server.includes(address)),
    evidence: evidenceOf(hostname, aliases, addresses),
  };
  if (addresses.length === 0) return [without(pointing, A, AAAA)];
  return [...privates(pointing), ...where(pointing)];
}

function addressesIn({ end }: Followed): string[] {
  const records = end.kind === 'records' ? end.records : [];
  return records.flatMap((record) => (record.type === 'A' || record.type === 'AAAA' ? [record.address] : []));
}

/** One way to write each address. */
function normal(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

function evidenceOf(hostname: string, aliases: readonly string[], addresses: readonly string[]): string {
  const steps = [hostname, ...aliases].map((name, index, all) => {
    const target = all[index + 1];
    return target === undefined ? [] : [`${name} CNAME ${target}`];
  });
  const last = aliases.at(-1) ?? hostname;
  const found = addresses.map((address) => `${last} ${isIPv6(address) ? 'AAAA' : 'A'} ${address}`);
  return listed([...steps.flat(), ...found], '\n');
}

function without({ seen, hostname, aliases, evidence }: Pointing, A: Followed, AAAA: Followed): Finding {
  const ends = [A.end.kind, AAAA.end.kind];
  if (ends.includes('loop') || (aliases.length > 0 && !ends.includes('failed'))) {
    const how = ends.includes('loop') ? 'leads in a circle' : 'leads to a name without an address';
    return {
      code: 'address_alias_broken',
      severity: 'error',
      message: `${hostname} is an alias that ${how}: ${listed([hostname, ...aliases], ' → ')}.`,
      hint: wanted(seen),
      evidence,
    };
  }
  if (ends.includes('failed'))
    return {
      code: 'address_unreadable',
      severity: 'error',
      message: `The addresses of ${hostname} could not be asked for.`,
      hint: 'The other findings say why. Check again afterwards.',
    };
  return {
    code: 'address_missing',
    severity: 'error',
    message: `${hostname} has no address yet.`,
    hint: wanted(seen),
    evidence: `${hostname} has neither an A nor an AAAA record.`,
  };
}

function wanted({ domain: { hostname, serverAddresses } }: Observation): string {
  const records = serverAddresses.map((address) => `${isIPv6(address) ? 'AAAA' : 'A'} ${address}`);
  return records.length > 0
    ? `Set for ${hostname}: ${listed(records)}.`
    : `Set an A record for ${hostname} with the address of the server.`;
}

/** Where the instance runs in a network of its own, its servers are there as well. */
function privates({ seen, hostname, addresses, ours, evidence }: Pointing): Finding[] {
  const such = addresses
    .map((address) => ({ address, kind: seen.kindOfAddress(address) }))
    .filter(({ address, kind }) => kind !== 'public' && !(seen.allowPrivate && ours.includes(address)));
  if (such.length === 0) return [];
  return [
    {
      code: 'address_private',
      severity: 'error',
      message: `${hostname} points to ${listed(such.map(({ address, kind }) => `${address} (${kind})`))}, which nobody on the internet can reach.`,
      hint: 'Use the public address of the server. A certificate authority has to reach it as well.',
      evidence,
    },
  ];
}

function where(pointing: Pointing): Finding[] {
  const { seen, hostname, aliases, addresses, ours, elsewhere, evidence } = pointing;
  const cdn = cdnOf(elsewhere.length > 0 ? aliases : [], elsewhere);
  if (cdn !== undefined) return [behind(pointing, cdn)];
  const isAt = `${hostname} points to ${listed(addresses)}`;
  if (seen.domain.serverAddresses.length === 0)
    return [{ code: 'address_seen', severity: 'info', message: `${isAt}.`, evidence }];
  if (elsewhere.length === 0)
    return [
      { code: 'address_found', severity: 'ok', message: `${isAt}, the server.`, evidence },
      ...notPropagated(pointing),
    ];
  const server = listed(seen.domain.serverAddresses);
  if (ours.length === 0)
    return [
      {
        code: 'address_elsewhere',
        severity: 'error',
        message: `${isAt}, and the server is ${server}.`,
        hint: wanted(seen),
        evidence,
      },
    ];
  const isV6Alone = elsewhere.every(isIPv6) && !ours.some(isIPv6);
  return [
    {
      code: isV6Alone ? 'address_v6_elsewhere' : 'address_partly_elsewhere',
      severity: 'error',
      message: isV6Alone
        ? `The IPv4 address of ${hostname} is the server’s, but its IPv6 address ${listed(elsewhere)} is not.`
        : `${hostname} points to the server at ${listed(ours)}, but also to ${listed(elsewhere)}, which is not the server.`,
      hint: isV6Alone
        ? 'Remove the AAAA record, or set it to the IPv6 address of the server. Browsers and certificate authorities prefer IPv6.'
        : `Remove the records for ${listed(elsewhere)}: part of the visitors end up there, and so may the certificate authority.`,
      evidence,
    },
  ];
}

function behind({ hostname, evidence }: Pointing, cdn: string): Finding {
  return {
    code: 'behind_cdn',
    severity: 'warning',
    message: `${hostname} is behind ${cdn}: visitors and the certificate authority reach it, and not the server.`,
    hint: `A certificate can be issued only if ${cdn} hands plain HTTP requests under /.well-known/acme-challenge/ on to the server, without a redirect and without its cache. Otherwise point the name straight to the server, or give a certificate of your own. Let ${cdn} connect to the server over https.`,
    evidence,
  };
}

function notPropagated({ seen, hostname, addresses }: Pointing): Finding[] {
  const stale = seen.resolverAddresses.filter((each) =>
    each.addresses.some((address) => !addresses.includes(address)),
  );
  if (stale.length === 0) return [];
  const servers = [...new Set(stale.map(({ server }) => server))];
  const longest = howLong(Math.max(...stale.map(({ ttl }) => ttl)));
  return [
    {
      code: 'address_not_propagated',
      severity: 'warning',
      message: `The address of ${hostname} is right, but ${listed(servers)} still ${servers.length === 1 ? 'remembers' : 'remember'} ${listed(stale.flatMap((each) => each.addresses))} for up to ${longest}.`,
      hint: 'Nothing is to be done; it passes by itself.',
      evidence: listed(
        stale.map(({ server, addresses: old, ttl }) => `${server}: ${listed(old)}, TTL ${ttl}`),
        '\n',
      ),
    },
  ];
}
