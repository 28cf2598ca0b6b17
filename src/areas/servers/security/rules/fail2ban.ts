/** Whether fail2ban really bans on SSH: alive, fed by a log that is written, acting on the port that sshd uses. */

import { BlockList, isIPv4 } from 'node:net';
import { type Facts, UnreadableFact } from '../facts.ts';
import {
  fail,
  type JudgeContext,
  notApplicable,
  pass,
  type Rule,
  type RuleVerdict,
  unknown,
  warn,
} from '../rule.ts';
import { sshdViews } from './sshd-views.ts';

const namedPorts: Record<string, number> = { ssh: 22, http: 80, https: 443 };

export const fail2banRules: readonly Rule[] = [
  {
    id: 'fail2ban_bans',
    title: 'Addresses that guess SSH logins are banned',
    severity: 'medium',
    fix: 'Install fail2ban and enable its sshd jail with `backend = systemd`, the port of sshd, and an action whose tool is installed; keep your own address in `ignoreip`.',
    lockoutRisk: true,
    judge(facts) {
      if (facts.isAbsent('fail2ban')) return fail('fail2ban is not installed.');
      const text = facts.text('fail2ban');
      if (!isRunning(facts)) return fail(text.slice(0, 480));
      const problems = [...logProblems(facts), ...actionProblems(facts)];
      const shown = text.split('\n').filter((line) => /Journal matches|File list|Total|^action /.test(line));
      return problems.length > 0
        ? fail(problems.join('\n'))
        : pass(shown.map((line) => line.replace(/^[\s|`-]+/, '')).join('\n'));
    },
  },
  {
    id: 'own_address_not_banned',
    title: 'Slipway itself is not banned, and cannot be',
    severity: 'medium',
    fix: 'Unban it with `fail2ban-client unban <address>`, and put it into `ignoreip` in a file of /etc/fail2ban/jail.d.',
    judge(facts, ctx): RuleVerdict {
      if (facts.isAbsent('fail2ban')) return notApplicable('fail2ban is not installed.');
      if (!isRunning(facts)) return notApplicable('fail2ban does not run.');
      const address = ourAddress(facts, ctx);
      if (!address) return unknown('It is not known from which address the server sees us.');
      const banned = facts.following('fail2ban', 'banned')[0];
      if (banned === undefined) return unknown('fail2ban does not report whom it has banned.');
      const all = [...banned.matchAll(/'([0-9a-fA-F.:/]+)'/g)].map((found) => found[1] ?? '');
      if (all.some((each) => isInNetwork(address, each))) return fail(`${address} is banned.`);
      const ignored = (facts.following('fail2ban', 'ignored')[0] ?? '').split(/[\s`|-]+/);
      return ignored.some((network) => isInNetwork(address, network))
        ? pass(`${address} is in ignoreip.`)
        : warn(`${address} is not banned now, but not in ignoreip either.`);
    },
  },
];

/** As the server sees us. */
export function ourAddress(facts: Facts, ctx: JudgeContext): string | undefined {
  return ctx.ourAddress ?? (facts.text('connection').trim().split(' ')[0] || undefined);
}

function isRunning(facts: Facts): boolean {
  const text = facts.text('fail2ban');
  const state = facts.following('fail2ban', 'service')[0];
  if (state === undefined) throw new UnreadableFact('The state of fail2ban was not reported.');
  return state === 'active' && /^Status for the jail: sshd$/m.test(text);
}

/** A jail without a working log source bans nobody. */
function logProblems(facts: Facts): string[] {
  const text = facts.text('fail2ban');
  const matches = /Journal matches:[ \t]*(\S.*)$/m.exec(text)?.[1];
  if (matches) {
    // Since OpenSSH 9.8 another program than sshd writes about logins, and Debian's unit is ssh.service.
    const isSplit = sshdViews(facts)[0]?.settings.has('sshdsessionpath');
    return isSplit && !/=(ssh\.service|sshd-session)/.test(matches)
      ? [`The sshd jail waits for ${matches}, but sshd-session of ssh.service writes the log.`]
      : [];
  }
  const files = /File list:[ \t]*(\S.*)?$/m.exec(text)?.[1];
  if (!files) return ['The sshd jail reads neither the journal nor a file.'];
  const [, size, writtenAt] = (facts.following('fail2ban', 'log')[0] ?? '').split(' ');
  if (!files.includes('/var/log/auth.log')) return [];
  if (!size) return [`The sshd jail reads ${files}, which does not exist.`];
  const ageDays = (facts.roundTrip.sentMs / 1000 - Number(writtenAt)) / 86_400;
  return ageDays > 7
    ? [`The sshd jail reads ${files}, into which nothing was written for ${Math.floor(ageDays)} days.`]
    : [];
}

/** An action without its tool, or for another port than sshd's, bans nobody. */
function actionProblems(facts: Facts): string[] {
  const actions = facts.following('fail2ban', 'action').map((line) => {
    const [name = '', , ...ports] = line.split(' ');
    return { name, ports: ports.join('').split(',') };
  });
  const blocking = actions.filter(({ name }) =>
    /nft|iptables|ipset|ufw|firewallcmd|route|shorewall/.test(name),
  );
  if (blocking.length === 0) return ['The sshd jail has no action that blocks an address.'];
  const tools = facts.following('fail2ban', 'tool');
  const problems: string[] = [];
  const sshPorts = sshdPorts(facts);
  for (const { name, ports } of blocking) {
    const tool = name.startsWith('nft') ? 'nft' : name.startsWith('iptables') ? 'iptables' : undefined;
    if (tool && !tools.includes(tool))
      problems.push(`The action ${name} needs ${tool}, which is not installed.`);
    const covers = (wanted: number) => ports.some((port) => coversPort(port, wanted));
    const missed = /allports|route/.test(name) ? [] : sshPorts.filter((port) => !covers(port));
    if (missed.length > 0)
      problems.push(
        `The action ${name} blocks port ${ports.join(',')}, but sshd listens on ${missed.join(', ')}.`,
      );
  }
  return problems;
}

function coversPort(written: string, wanted: number): boolean {
  const [from = '', to = from] = written.split(/[:-]/).map((each) => each.trim());
  const [low, high] = [namedPorts[from] ?? Number(from), namedPorts[to] ?? Number(to)];
  return wanted >= low && wanted <= high;
}

function sshdPorts(facts: Facts): number[] {
  const ports = sshdViews(facts)[0]?.settings.get('port')?.map(Number);
  if (!ports) throw new UnreadableFact('`sshd -T` does not show its port.');
  return ports;
}

function isInNetwork(address: string, network: string): boolean {
  const [base = '', length] = network.split('/');
  const family = isIPv4(base) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  try {
    if (length === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(length), family);
  } catch {
    // No address: a host name, or a mask written out. It holds nothing.
    return false;
  }
  return list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
