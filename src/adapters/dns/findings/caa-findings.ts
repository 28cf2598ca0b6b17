/** What is to be said about CAA: whether our certificate authority may issue for the name. */

import type { Observation } from '../client/observation.ts';
import { judgeCaa } from './caa.ts';
import { type Finding, listed, shown } from './finding.ts';
import { isUnregistered } from './record-findings.ts';

export function caaFindings(seen: Observation): Finding[] {
  const { caa, domain } = seen;
  if (domain.authority.length === 0 || isUnregistered(seen)) return [];
  const us = listed(domain.authority);
  if (caa.kind === 'none')
    return [ok(`No CAA record restricts who may issue certificates for ${domain.hostname}.`, undefined)];
  if (caa.kind === 'failed')
    return [
      {
        code: 'caa_unreadable',
        severity: 'error',
        message: `The CAA records of ${caa.name} could not be asked for, and authorities take that for a refusal.`,
        hint: 'The name servers must answer questions for CAA, also where there is none. Ask whoever runs them.',
      },
    ];
  const isWildcard = domain.hostname.startsWith('*.');
  const verdict = judgeCaa(caa.records, domain.authority, isWildcard);
  const evidence = listed(
    caa.records.map(
      ({ isCritical, tag, value }) =>
        `${caa.name} CAA ${isCritical ? 128 : 0} ${shown(tag)} "${shown(value)}"`,
    ),
    '\n',
  );
  const tag = isWildcard && caa.records.some((record) => record.tag === 'issuewild') ? 'issuewild' : 'issue';
  const add = `Add to ${caa.name}: CAA 0 ${tag} "${domain.authority[0] ?? ''}".`;
  switch (verdict.kind) {
    case 'allowed':
      return [ok(`The CAA records of ${caa.name} allow ${us}.`, evidence)];
    case 'account':
      return [
        {
          code: 'caa_account',
          severity: 'warning',
          message: `The CAA records of ${caa.name} allow ${us} for the account ${shown(verdict.account)} alone.`,
          hint: 'If that is not the account of this instance, no certificate is issued: remove “accounturi”, or add a record for it.',
          evidence,
        },
      ];
    case 'method':
      return [
        {
          code: 'caa_forbids_method',
          severity: 'error',
          message: `The CAA records of ${caa.name} allow ${us} by ${shown(verdict.methods)} alone, and this instance proves names by http-01.`,
          hint: 'Add http-01 to “validationmethods”, or remove it.',
          evidence,
        },
      ];
    case 'forbidden': {
      const who = {
        others: `allow only ${listed(verdict.others)}`,
        nobody: 'allow nobody',
        'unknown tag': `have the critical property “${listed(verdict.others)}”, which no authority may pass over,`,
      }[verdict.why];
      return [
        {
          code: 'caa_forbids',
          severity: 'error',
          message: `The CAA records of ${caa.name} ${who} to issue certificates for ${domain.hostname}; ${us} is ours.`,
          hint: verdict.why === 'unknown tag' ? 'Remove that property.' : add,
          evidence,
        },
      ];
    }
  }
}

function ok(message: string, evidence: string | undefined): Finding {
  return { code: 'caa_allows', severity: 'ok', message, evidence };
}
