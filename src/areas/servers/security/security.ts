/**
 * The security state of a server: runs one script on it, connects to it from outside, and judges. Owns the script, the
 * rules and the score; refuses to change anything on the server, to guess what it could not read (that is
 * `unknown`, never `pass`), and to show a secret as evidence. Knows nothing of the store or of HTTP.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Remote } from '../../../remote/remote.ts';
import { Facts, parseSections, UnreadableFact } from './facts.ts';
import { probeFromOutside } from './port-probes.ts';
import type { JudgeContext, Rule, RuleVerdict, SecurityCheck, SecurityContext } from './rule.ts';
import { accountRules } from './rules/accounts.ts';
import { dockerRules } from './rules/docker.ts';
import { fail2banRules } from './rules/fail2ban.ts';
import { fileRules } from './rules/files.ts';
import { firewallRules } from './rules/firewall.ts';
import { kernelRules } from './rules/kernel.ts';
import { sshdRules } from './rules/sshd.ts';
import { sshdAlgorithmRules } from './rules/sshd-algorithms.ts';
import { systemRules } from './rules/system.ts';
import { updateRules } from './rules/updates.ts';
import { type Summary, summarise } from './summary.ts';

/** In the order in which they are shown. Their ids are part of the API and stay. */
const rules: readonly Rule[] = [
  ...sshdRules,
  ...sshdAlgorithmRules,
  ...firewallRules,
  ...fail2banRules,
  ...updateRules,
  ...accountRules,
  ...fileRules,
  ...dockerRules,
  ...kernelRules,
  ...systemRules,
];

/** One constant text, in files by theme. */
const script = ['frame', 'ssh', 'network', 'packages', 'accounts', 'system', 'docker', 'main']
  .map((name) => readFileSync(new URL(`./questions/${name}.sh`, import.meta.url), 'utf8'))
  .join('\n');
/** The script stops by itself after 25 s; the rest is for the round trip. */
const timeoutMs = 45_000;

export interface SecurityReport extends Summary {
  readonly checks: readonly SecurityCheck[];
}

export async function checkSecurity(remote: Remote, ctx: SecurityContext): Promise<SecurityReport> {
  const checks = judge(await collectFacts(remote, ctx), ctx);
  return { ...summarise(checks), checks };
}

/** One script, one round trip, and nothing changed there. */
async function collectFacts(remote: Remote, ctx: SecurityContext): Promise<Facts> {
  const startedAt = performance.now();
  const args = [ctx.username, ctx.ourAddress ?? '', isIP(ctx.host) ? ctx.host : '', String(ctx.port)];
  const packed = await remote.script(script, args, { asRoot: true, timeoutMs });
  const sentMs = ctx.now.getTime();
  const endedMs = sentMs + performance.now() - startedAt;
  const facts = new Facts(parseSections(packed), { sentMs, endedMs });
  try {
    return facts.withProbes(await probeFromOutside(facts, ctx));
  } catch (error) {
    // Without the list of ports there is nothing to connect to; the checks that need it then say so.
    if (error instanceof UnreadableFact) return facts;
    throw error;
  }
}

export function judge(facts: Facts, ctx: JudgeContext): SecurityCheck[] {
  return rules.map((rule) => {
    const { status, evidence } = verdictOf(rule, facts, ctx);
    const { id, title, severity, fix, lockoutRisk = false } = rule;
    return { id, title, status, severity, evidence: presentable(evidence), fix, lockoutRisk };
  });
}

function verdictOf(rule: Rule, facts: Facts, ctx: JudgeContext): RuleVerdict {
  try {
    return rule.judge(facts, ctx);
  } catch (error) {
    if (error instanceof UnreadableFact) return { status: 'unknown', evidence: error.message };
    throw error;
  }
}

const maxEvidence = 500;

/** Names and comments on a server can hold anything: escape sequences too. */
function presentable(evidence: string): string {
  const plain = evidence.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, ' ').trim();
  return plain.length <= maxEvidence ? plain : `${plain.slice(0, maxEvidence - 1)}…`;
}
