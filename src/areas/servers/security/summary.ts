/** One number and one word for all checks. */
import type { CheckSeverity, SecurityCheck } from './rule.ts';

export type SecurityState = 'unknown' | 'at_risk' | 'fair' | 'hardened';

export interface Summary {
  readonly state: SecurityState;
  /** 0–100. What could not be read earns nothing. */
  readonly score: number;
}

const weights: Record<CheckSeverity, number> = { low: 1, medium: 3, high: 6, critical: 10 };
const hardenedFrom = 90;
const riskyBelow = 50;
/** With more of the weight than this unknown, the score means nothing. */
const maxUnknown = 0.25;

export function summarise(checks: readonly SecurityCheck[]): Summary {
  const counted = checks.filter(({ status }) => status !== 'not_applicable');
  const total = weightOf(counted);
  if (total === 0) return { state: 'unknown', score: 0 };
  const earned = weightOf(withStatus(counted, 'pass')) + weightOf(withStatus(counted, 'warn')) / 2;
  // Rounded down: 100 means that everything passes.
  const score = Math.floor((100 * earned) / total);
  return { state: stateOf(counted, score, total), score };
}

function stateOf(checks: readonly SecurityCheck[], score: number, total: number): SecurityState {
  const unread = withStatus(checks, 'unknown');
  if (withStatus(checks, 'fail').some(isSerious)) return 'at_risk';
  if (unread.some(({ severity }) => severity === 'critical') || weightOf(unread) > total * maxUnknown)
    return 'unknown';
  if (score < riskyBelow) return 'at_risk';
  return score >= hardenedFrom && !unread.some(isSerious) ? 'hardened' : 'fair';
}

function isSerious({ severity }: SecurityCheck): boolean {
  return severity === 'high' || severity === 'critical';
}

function withStatus(checks: readonly SecurityCheck[], status: SecurityCheck['status']): SecurityCheck[] {
  return checks.filter((check) => check.status === status);
}

function weightOf(checks: readonly SecurityCheck[]): number {
  return checks.reduce((sum, { severity }) => sum + weights[severity], 0);
}
