/** What is to be said about the record that proves a domain. */

import { shownName } from '../client/names.ts';
import type { Observation, ServerAnswer } from '../client/observation.ts';
import { disagree, hasValue, type TextAnswer } from '../client/observation.ts';
import { type Finding, howLong, listed, shown } from './finding.ts';

export function recordFindings(seen: Observation): Finding[] {
  const { record } = seen.domain;
  const answering = answers(seen);
  if (answering.length === 0) return [];
  const right = answering.filter((each) => hasValue(each.seen, record.value));
  if (disagree(answering, record.value)) return [disagreement(seen, answering, right)];
  if (right.length > 0) return [found(seen, right), ...notPropagated(seen)];
  const alias = answering.map((each) => each.seen).find((each) => each.kind === 'alias');
  if (alias?.kind === 'alias') return [aliased(seen, alias)];
  const values = answering.flatMap((each) => (each.seen.kind === 'values' ? each.seen.values : []));
  if (values.length > 0) return [wrong(seen, [...new Set(values)], answering)];
  return isUnregistered(seen) ? [] : [missing(seen, answering)];
}

/** The zone's own servers are the truth; where none of them can be asked, resolvers are the best there is. */
export function answers({ zone, resolvers }: Observation): readonly ServerAnswer[] {
  const isAnswer = ({ seen }: ServerAnswer) => seen.kind !== 'failed';
  const own = (zone?.servers ?? []).filter(isAnswer);
  return own.length > 0 ? own : resolvers.filter(isAnswer);
}

/** Zones in which others register names: nobody puts a record of their own there. */
const registryLabels = /^(ac|co|com|edu|go|gob|gov|gv|info|ltd|me|ne|net|nom|or|org|plc|sch|web)\.[a-z]{2}$/;

export function isUnregistered({ zone, nearest, resolvers, addresses }: Observation): boolean {
  // Some resolvers do not say which zone it is that has no such name.
  if (!zone) {
    const isGone = addresses.A.end.kind === 'none' && addresses.A.end.isNxdomain;
    return isGone && resolvers.some(({ seen }) => seen.kind === 'none' && seen.isNxdomain);
  }
  if (nearest !== zone.name) return false;
  return !zone.name.includes('.') || registryLabels.test(zone.name);
}

function found({ domain: { record } }: Observation, right: readonly ServerAnswer[]): Finding {
  const others = right.flatMap(({ seen }) =>
    seen.kind === 'values' ? seen.values.filter((value) => value !== record.value) : [],
  );
  const beside = others.length > 0 ? ' The other values there do no harm.' : '';
  return {
    code: 'record_found',
    severity: 'ok',
    message: `The TXT record ${record.name} has the right value.${beside}`,
    evidence: listed(right.map(inWords), '\n'),
  };
}

function wrong({ domain: { record } }: Observation, values: string[], at: readonly ServerAnswer[]): Finding {
  const quoted = values.some((value) => value.replace(/["'“”\s]/g, '') === record.value);
  const otherCase = values.some((value) => value.toLowerCase() === record.value.toLowerCase());
  const hint = quoted
    ? `The value has quotation marks or spaces too many. Enter it exactly as ${record.value}.`
    : otherCase
      ? `The value differs in upper and lower case only. Enter it exactly as ${record.value}.`
      : `Change the value of the TXT record ${record.name} to ${record.value}, or add it as a second one.`;
  const is = values.length === 1 ? 'has the value' : 'has the values';
  return {
    code: 'record_wrong',
    severity: 'error',
    message: `The TXT record ${record.name} ${is} ${listed(values.map((value) => `“${shown(value)}”`))}, and “${record.value}” was expected.`,
    hint,
    evidence: listed(at.map(inWords), '\n'),
  };
}

function missing({ domain: { record }, zone, misplaced }: Observation, at: readonly ServerAnswer[]): Finding {
  const where = zone ? `The zone ${shownName(zone.name)} exists, but has` : 'There is';
  const place = zone && zone.name !== '' ? relativeTo(record.name, zone.name) : record.name;
  const panel =
    place === record.name
      ? ''
      : ` Many control panels add the zone themselves: enter ${place} as the name there.`;
  return {
    code: 'record_missing',
    severity: 'error',
    message:
      misplaced === undefined
        ? `${where} no TXT record ${record.name}.`
        : `${where} no TXT record ${record.name}; the value stands at ${misplaced} instead.`,
    hint: `Add a TXT record with the name ${record.name} and the value ${record.value}.${panel}`,
    evidence: listed(at.map(inWords), '\n'),
  };
}

function relativeTo(name: string, zone: string): string {
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

function aliased(
  { domain: { record } }: Observation,
  alias: Extract<TextAnswer, { kind: 'alias' }>,
): Finding {
  const there = alias.values.includes(record.value)
    ? ' The value stands there, but whoever owns that name is not therefore the owner of this one.'
    : '';
  return {
    code: 'record_alias',
    severity: 'error',
    message: `${record.name} is a CNAME to ${shown(alias.target)}, and no TXT record can stand beside it.${there}`,
    hint: `Remove the CNAME, or add a TXT record with exactly this name where a wildcard makes it, and give it the value ${record.value}.`,
    evidence: `${record.name} CNAME ${shown(alias.target)}`,
  };
}

function disagreement(
  { domain: { record }, zone }: Observation,
  all: readonly ServerAnswer[],
  right: readonly ServerAnswer[],
): Finding {
  const wrongOnes = all.filter((each) => !right.includes(each));
  const who = zone?.servers.some((each) => right.includes(each)) ? 'name servers of the zone' : 'resolvers';
  return {
    code: 'servers_disagree',
    severity: 'error',
    message: `The ${who} do not agree: ${listed(right.map(({ server }) => server))} ${right.length === 1 ? 'has' : 'have'} the TXT record ${record.name}, and ${listed(wrongOnes.map(({ server }) => server))} ${wrongOnes.length === 1 ? 'does' : 'do'} not.`,
    hint: 'Wait until the change has reached all of them. If it does not within an hour, ask whoever runs the name servers, or remove those that do not belong to the zone any more.',
    evidence: listed([...all.map(inWords), ...(zone?.serials ?? [])], '\n'),
  };
}

/** Said of resolvers only where the zone itself has it right. */
function notPropagated({ domain: { record }, zone, resolvers }: Observation): Finding[] {
  const isRightAtZone = zone?.servers.some(({ seen }) => hasValue(seen, record.value));
  const behind = resolvers.filter(({ seen }) => seen.kind !== 'failed' && !hasValue(seen, record.value));
  if (!isRightAtZone || behind.length === 0) return [];
  const left = behind.flatMap(({ seen }) =>
    seen.kind === 'failed' || seen.ttl === undefined ? [] : [seen.ttl],
  );
  const longest = left.length > 0 ? ` for up to ${howLong(Math.max(...left))}` : '';
  const old = behind.some(({ seen }) => seen.kind === 'values') ? 'the old value' : 'that there is none';
  return [
    {
      code: 'record_not_propagated',
      severity: 'warning',
      message: `The record is not known everywhere yet: ${listed(behind.map(({ server }) => server))} still ${behind.length === 1 ? 'remembers' : 'remember'} ${old}${longest}.`,
      hint: 'Nothing is to be done; it passes by itself.',
      evidence: listed(behind.map(inWords), '\n'),
    },
  ];
}

export function inWords({ server, seen }: ServerAnswer): string {
  switch (seen.kind) {
    case 'values':
      return `${server}: TXT ${listed(seen.values.map((value) => JSON.stringify(shown(value))))}, TTL ${seen.ttl}`;
    case 'none': {
      const ttl = seen.ttl === undefined ? '' : `, remembered for ${seen.ttl} s`;
      return `${server}: ${seen.isNxdomain ? 'no such name (NXDOMAIN)' : 'no TXT record'}${ttl}`;
    }
    case 'alias':
      return `${server}: CNAME ${shown(seen.target)}, TTL ${seen.ttl}`;
    case 'failed':
      return `${server}: ${shown(seen.why)}`;
  }
}
