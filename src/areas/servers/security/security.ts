/**
 * The security state of a server: asks it once, connects to it from outside, and judges. Owns the questions, the
 * rules and the score; refuses to change anything on the server, to guess where it could not look (that is
 * `unknown`, never `pass`), and to show a secret as evidence. Knows nothing of the store or of HTTP.
 */
import type { Remote } from '../../../remote/remote.ts';
import { rules } from './checks.ts';
import { collectFacts, type RawFacts } from './collect.ts';
import { Unreadable } from './facts.ts';
import type { Check, JudgeContext, Rule, SecurityContext, Verdict } from './rule.ts';
import { type Summary, summarise } from './summary.ts';

export { collectFacts, type RawFacts } from './collect.ts';
export type { Check, CheckSeverity, CheckStatus, JudgeContext, SecurityContext } from './rule.ts';
export { type SecurityState, type Summary, summarise } from './summary.ts';

export interface SecurityReport extends Summary {
  readonly checks: readonly Check[];
}

export async function checkSecurity(remote: Remote, ctx: SecurityContext): Promise<SecurityReport> {
  const checks = judge(await collectFacts(remote, ctx), ctx);
  return { ...summarise(checks), checks };
}

export function judge(facts: RawFacts, ctx: JudgeContext): Check[] {
  return rules.map((rule) => {
    const { status, evidence } = verdictOf(rule, facts, ctx);
    const { id, title, severity, fix, lockoutRisk = false } = rule;
    return { id, title, status, severity, evidence: presentable(evidence), fix, lockoutRisk };
  });
}

function verdictOf(rule: Rule, facts: RawFacts, ctx: JudgeContext): Verdict {
  try {
    return rule.judge(facts, ctx);
  } catch (error) {
    if (error instanceof Unreadable) return { status: 'unknown', evidence: error.message };
    throw error;
  }
}

const mostEvidence = 500;

/** Names and comments on a server can hold anything: escape sequences too. */
function presentable(evidence: string): string {
  const plain = evidence.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, ' ').trim();
  return plain.length <= mostEvidence ? plain : `${plain.slice(0, mostEvidence - 1)}…`;
}
