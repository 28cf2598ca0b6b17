/** What is to be said about the zone, its name servers, its signatures, and the resolvers that were asked. */

import { shownName } from '../client/names.ts';
import type { Failure, Observation, ServerAnswer } from '../client/observation.ts';
import { type Finding, type FindingCode, listed, shown } from './finding.ts';
import { inWords, isUnregistered } from './record-findings.ts';

export function zoneFindings(seen: Observation): Finding[] {
  return [
    ...signatures(seen),
    ...existence(seen),
    ...servers(seen),
    ...resolversFailing(seen),
    ...limits(seen),
  ];
}

function existence(seen: Observation): Finding[] {
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

function zoneUnknown({ domain, resolvers }: Observation): Finding {
  return {
    code: 'zone_unknown',
    severity: 'error',
    message: `No resolver could tell which zone ${domain.hostname} lies in.`,
    hint: 'The name servers of the domain, as entered at its registrar, do not answer or do not know it. Check them there.',
    evidence: listed(resolvers.map(inWords), '\n'),
  };
}

const failures: Record<
  Exclude<Failure, 'no way'>,
  { readonly code: FindingCode; readonly does: string; readonly hint: string }
> = {
  silent: {
    code: 'name_server_silent',
    does: 'does not answer',
    hint: 'Ask whoever runs the name server, or remove it from the domain at the registrar.',
  },
  failing: {
    code: 'name_server_failing',
    does: 'answers with an error',
    hint: 'Ask whoever runs the name server: it has the zone, but cannot load or reach it.',
  },
  lame: {
    code: 'name_server_lame',
    does: 'does not know the zone',
    hint: 'The name servers entered at the registrar must be those of the provider that has the zone. Correct them at the registrar, or set up the zone at the provider.',
  },
  private: {
    code: 'name_server_private',
    does: 'has an address that this instance does not connect to',
    hint: 'The name servers of a public domain need public addresses. Whoever runs this instance can allow addresses of its own network in the settings.',
  },
  unknown: {
    code: 'name_server_unknown',
    does: 'has no address',
    hint: 'Check the spelling of the name server at the registrar.',
  },
};

function servers({ zone }: Observation): Finding[] {
  if (!zone || zone.name === '') return [];
  const isHealthy = zone.servers.some(({ seen }) => seen.kind !== 'failed');
  return (['silent', 'failing', 'lame', 'private', 'unknown'] as const).flatMap((how): Finding[] => {
    const such = zone.servers.filter(({ seen }) => seen.kind === 'failed' && seen.how === how);
    if (such.length === 0) return [];
    const { code, does, hint } = failures[how];
    const each = such.length > 1 ? 'each ' : '';
    const rest = isHealthy ? ' Others of the zone answer, so that it works by chance.' : ' No other answers.';
    return [
      {
        code,
        severity: isHealthy ? 'warning' : 'error',
        message: `Of the name servers of ${zone.name}, ${listed(such.map(({ server }) => server))} ${each}${does}.${rest}`,
        hint,
        evidence: listed(such.map(inWords), '\n'),
      },
    ];
  });
}

function signatures({ bogus, domain }: Observation): Finding[] {
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

function resolversFailing({ resolvers }: Observation): Finding[] {
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

function isSilence({ seen }: Pick<ServerAnswer, 'seen'>): boolean {
  return seen.kind === 'failed' && (seen.how === 'silent' || seen.how === 'no way' || seen.how === 'lame');
}

function limits({ isIncomplete }: Observation): Finding[] {
  if (!isIncomplete) return [];
  return [
    {
      code: 'look_incomplete',
      severity: 'warning',
      message:
        'Not everything could be looked at: the servers of the domain took too long or asked for too much.',
      hint: 'Check again later.',
    },
  ];
}
