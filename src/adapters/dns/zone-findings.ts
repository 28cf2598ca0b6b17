/** What is to be said about the zone, its name servers, its signatures, and the resolvers that were asked. */
import { type Finding, type FindingCode, listed, shown } from './finding.ts';
import { shownName } from './names.ts';
import { inWords, isUnregistered } from './record-findings.ts';
import type { Seen, SeenAtServer } from './seen.ts';
import type { Failure } from './seen-text.ts';

export function zoneFindings(seen: Seen): Finding[] {
  return [
    ...signatures(seen),
    ...existence(seen),
    ...servers(seen),
    ...resolversFailing(seen),
    ...limits(seen),
  ];
}

function existence(seen: Seen): Finding[] {
  const { domain, zone, nearest, resolvers } = seen;
  if (!zone && !isUnregistered(seen)) {
    // Without an answer of any resolver there is nothing to say about the domain.
    return resolvers.every(isSilence) ? [] : [zoneUnknown(seen)];
  }
  if (!isUnregistered(seen)) return [];
  const above = nearest === undefined || nearest === '' ? '' : ` The nearest name that does is ${nearest}.`;
  return [
    {
      code: 'no_such_domain',
      severity: 'error',
      message: `The domain of ${domain.hostname} does not exist.${above}`,
      hint: 'Check the spelling. If it was registered just now, wait until the registry has published it; if it has expired, renew it.',
      evidence: zone
        ? `The servers of ${shownName(zone.name)} answer: no such name (NXDOMAIN).`
        : listed(resolvers.map(inWords), '\n'),
    },
  ];
}

function zoneUnknown({ domain, resolvers }: Seen): Finding {
  return {
    code: 'zone_unknown',
    severity: 'error',
    message: `No resolver could tell which zone ${domain.hostname} lies in.`,
    hint: 'The name servers of the domain, as entered at its registrar, do not answer or do not know it. Check them there.',
    evidence: listed(resolvers.map(inWords), '\n'),
  };
}

const codes: Record<Exclude<Failure, 'no way'>, FindingCode> = {
  silent: 'name_server_silent',
  failing: 'name_server_failing',
  lame: 'name_server_lame',
  private: 'name_server_private',
  unknown: 'name_server_unknown',
};

const does: Record<Exclude<Failure, 'no way'>, string> = {
  silent: 'does not answer',
  failing: 'answers with an error',
  lame: 'does not know the zone',
  private: 'has an address that this instance does not connect to',
  unknown: 'has no address',
};

const todo: Record<Exclude<Failure, 'no way'>, string> = {
  silent: 'Ask whoever runs the name server, or remove it from the domain at the registrar.',
  failing: 'Ask whoever runs the name server: it has the zone, but cannot load or reach it.',
  lame: 'The name servers entered at the registrar must be those of the provider that has the zone. Correct them at the registrar, or set up the zone at the provider.',
  private:
    'The name servers of a public domain need public addresses. Whoever runs this instance can allow addresses of its own network in the settings.',
  unknown: 'Check the spelling of the name server at the registrar.',
};

function servers({ zone }: Seen): Finding[] {
  if (!zone || zone.name === '') return [];
  const isHealthy = zone.servers.some(({ seen }) => seen.kind !== 'failed');
  return (['silent', 'failing', 'lame', 'private', 'unknown'] as const).flatMap((how): Finding[] => {
    const such = zone.servers.filter(({ seen }) => seen.kind === 'failed' && seen.how === how);
    if (such.length === 0) return [];
    const each = such.length > 1 ? 'each ' : '';
    const rest = isHealthy ? ' Others of the zone answer, so that it works by chance.' : ' No other answers.';
    return [
      {
        code: codes[how],
        severity: isHealthy ? 'warning' : 'error',
        message: `Of the name servers of ${zone.name}, ${listed(such.map(({ server }) => server))} ${each}${does[how]}.${rest}`,
        hint: todo[how],
        evidence: listed(such.map(inWords), '\n'),
      },
    ];
  });
}

function signatures({ bogus, domain }: Seen): Finding[] {
  if (bogus.length === 0) return [];
  const seen = bogus.map(({ server, name, type, explanation }) => {
    const why = explanation === undefined ? '' : ` (${shown(explanation)})`;
    return `${server}: SERVFAIL for ${name} ${type}${why}, and an answer without validation`;
  });
  return [
    {
      code: 'dnssec_broken',
      severity: 'error',
      message: `The DNSSEC signatures of ${domain.hostname} are wrong, so that validating resolvers refuse its answers: ${listed(bogus.map(({ server }) => server))}.`,
      hint: 'Often the DS record at the registrar belongs to another provider’s key. Remove it there or enter the one of the present provider, or have the zone signed again.',
      evidence: listed(seen, '\n'),
    },
  ];
}

function resolversFailing({ resolvers }: Seen): Finding[] {
  const silent = resolvers.filter(isSilence);
  if (silent.length === 0) return [];
  const isAll = silent.length === resolvers.length;
  return [
    {
      code: 'resolvers_failing',
      severity: isAll ? 'error' : 'warning',
      message: `${isAll ? 'None' : 'Some'} of the resolvers this instance uses ${isAll ? 'answers' : 'do not answer'}: ${listed(silent.map(({ server }) => server))}.`,
      hint: 'That is not the fault of the domain. Whoever runs this instance can set others.',
      evidence: listed(silent.map(inWords), '\n'),
    },
  ];
}

function isSilence({ seen }: Pick<SeenAtServer, 'seen'>): boolean {
  return seen.kind === 'failed' && (seen.how === 'silent' || seen.how === 'no way' || seen.how === 'lame');
}

function limits({ isIncomplete }: Seen): Finding[] {
  if (!isIncomplete) return [];
  return [
    {
      code: 'look_incomplete',
      severity: 'warning',
      message:
        'Not everything could be looked at: the servers of the domain took too long or asked for too much.',
      hint: 'Check again later.',
      evidence: undefined,
    },
  ];
}
