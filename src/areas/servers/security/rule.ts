/** What a check is, and how a rule says what it found. */
import type { Facts, PortState } from './facts.ts';

export type CheckStatus = 'pass' | 'warn' | 'fail' | 'unknown' | 'not_applicable';
export type CheckSeverity = 'low' | 'medium' | 'high' | 'critical';

export interface SecurityCheck {
  readonly id: string;
  readonly title: string;
  readonly status: CheckStatus;
  readonly severity: CheckSeverity;
  /** The short raw text that decided it, at most 500 characters, without secrets. */
  readonly evidence: string;
  /** What a person can do about it. */
  readonly fix: string;
  /** Whether the fix, done wrong, can shut out those who log in. */
  readonly lockoutRisk: boolean;
}

/** What a verdict depends on besides the facts. */
export interface JudgeContext {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  /** The service's address as the server sees it. Absent: what the server says of our connection. */
  readonly ourAddress?: string;
  readonly now: Date;
}

/** With the way to look from outside, for the rules that do. */
export type SecurityContext = JudgeContext & {
  /** What a TCP connection from here meets. */
  readonly connect: (host: string, port: number, timeoutMs: number) => Promise<PortState>;
};

export interface RuleVerdict {
  readonly status: CheckStatus;
  readonly evidence: string;
}

export interface Rule {
  readonly id: string;
  readonly title: string;
  readonly severity: CheckSeverity;
  readonly lockoutRisk?: boolean;
  readonly fix: string;
  readonly judge: (facts: Facts, ctx: JudgeContext) => RuleVerdict;
}

const says =
  (status: CheckStatus) =>
  (evidence: string): RuleVerdict => ({ status, evidence });

export const pass = says('pass');
export const warn = says('warn');
export const fail = says('fail');
export const unknown = says('unknown');
export const notApplicable = says('not_applicable');

/** Fails for the first list, warns for the second, passes where both are empty. */
export function graded(bad: readonly string[], poor: readonly string[], good: string): RuleVerdict {
  if (bad.length > 0) return fail([...bad, ...poor].join('\n'));
  return poor.length > 0 ? warn(poor.join('\n')) : pass(good);
}
