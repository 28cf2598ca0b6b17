/** Settings of the kernel. In a container those that belong to the whole machine are not the server's to set. */

import { type Facts, UnreadableFact } from '../facts.ts';
import { graded, notApplicable, pass, type Rule, type RuleVerdict, warn } from '../rule.ts';

function values(facts: Facts): Map<string, string> {
  return new Map(
    facts
      .lines('sysctl')
      .map((line) => [line.split(' ')[0] ?? '', line.slice(line.indexOf(' ') + 1)] as const),
  );
}

const sysctlFile = 'a file of /etc/sysctl.d, then run `sysctl --system`';

/** How the kernel joins the value for all devices with the device's own; see its ip-sysctl text. */
function effective(all: Map<string, string>, device: string, key: string): number | undefined {
  const [whole, own] = ['all', device].map((each) => all.get(`net/ipv4/conf/${each}/${key}`));
  if (whole === undefined || own === undefined) return undefined;
  const [a, b] = [Number(whole), Number(own)];
  const isForwarding = all.get('net/ipv4/ip_forward') === '1';
  const needsBoth = key === 'accept_source_route' || (key === 'accept_redirects' && isForwarding);
  return needsBoth ? Math.min(a, b) : Math.max(a, b);
}

function networkFindings(all: Map<string, string>): string[] {
  const devices = [...all.keys()].flatMap(
    (key) => /^net\/ipv4\/conf\/([^/]+)\/rp_filter$/.exec(key)?.[1] ?? [],
  );
  const findings: string[] = all.get('net/ipv4/tcp_syncookies') === '0' ? ['tcp_syncookies 0'] : [];
  for (const device of devices.filter((each) => each !== 'all')) {
    if (effective(all, device, 'rp_filter') === 0) findings.push(`${device}: rp_filter 0`);
    for (const key of ['accept_redirects', 'send_redirects', 'accept_source_route']) {
      if ((effective(all, device, key) ?? 0) > 0) findings.push(`${device}: ${key} 1`);
    }
    const hasForwarding6 = all.get('net/ipv6/conf/all/forwarding') === '1';
    if (all.get(`net/ipv6/conf/${device}/accept_redirects`) === '1' && !hasForwarding6)
      findings.push(`${device}: IPv6 accept_redirects 1`);
    if (Number(all.get(`net/ipv6/conf/${device}/accept_source_route`) ?? 0) > 0)
      findings.push(`${device}: IPv6 accept_source_route 1`);
  }
  return findings;
}

const protections: readonly { key: string; isGood: (value: number) => boolean }[] = [
  { key: 'kernel/kptr_restrict', isGood: (value) => value >= 1 },
  { key: 'kernel/dmesg_restrict', isGood: (value) => value === 1 },
  { key: 'kernel/unprivileged_bpf_disabled', isGood: (value) => value >= 1 },
  { key: 'kernel/yama/ptrace_scope', isGood: (value) => value >= 1 },
  { key: 'fs/protected_hardlinks', isGood: (value) => value === 1 },
  { key: 'fs/protected_symlinks', isGood: (value) => value === 1 },
];

export const kernelRules: readonly Rule[] = [
  {
    id: 'kernel_network',
    title: 'The kernel trusts no stranger about routes',
    severity: 'medium',
    fix: `Set tcp_syncookies and rp_filter to 1, accept_redirects, send_redirects and accept_source_route to 0, in ${sysctlFile}.`,
    judge(facts): RuleVerdict {
      const all = values(facts);
      if (!all.has('net/ipv4/conf/all/rp_filter')) {
        if (!facts.container)
          throw new UnreadableFact('The network settings of the kernel could not be read.');
        return notApplicable(`They cannot be read in this container (${facts.container}).`);
      }
      if (facts.lines('routes').length === 0)
        throw new UnreadableFact('The server reported no device with a default route.');
      return graded(
        [],
        networkFindings(all),
        'syncookies on, reverse path checked, no redirects, no source routes',
      );
    },
  },
  {
    id: 'kernel_protection',
    title: 'The kernel hides its insides from ordinary users',
    severity: 'low',
    fix: `Set kernel.kptr_restrict, kernel.dmesg_restrict, kernel.unprivileged_bpf_disabled, kernel.yama.ptrace_scope, fs.protected_hardlinks and fs.protected_symlinks to 1 in ${sysctlFile}.`,
    judge(facts): RuleVerdict {
      const all = values(facts);
      const read = protections.flatMap((each) => {
        const value = all.get(each.key);
        return value === undefined
          ? []
          : [{ text: `${each.key} ${value}`, isGood: each.isGood(Number(value)) }];
      });
      const shown = read.map(({ text }) => text).join('\n');
      if (facts.container)
        return notApplicable(
          `The kernel belongs to the host of this container (${facts.container}).\n${shown}`,
        );
      if (read.length === 0) throw new UnreadableFact('No kernel setting could be read.');
      return graded(
        [],
        read.filter(({ isGood }) => !isGood).map(({ text }) => text),
        shown,
      );
    },
  },
  {
    id: 'core_dumps',
    title: 'Programs that crash leave no memory on disk',
    severity: 'low',
    fix: 'Write `* hard core 0` into a file of /etc/security/limits.d, and set fs.suid_dumpable to 0.',
    judge(facts): RuleVerdict {
      const all = values(facts);
      const pattern = all.get('kernel/core_pattern') ?? '';
      const dumpable = all.get('fs/suid_dumpable');
      const isLimited = facts.lines('core').some((line) => /^\*\s+(hard|-)\s+core\s+0$/.test(line));
      const evidence = `suid_dumpable ${dumpable ?? 'unreadable'}, core_pattern ${pattern}\n${facts.text('core')}`;
      if (!facts.container && dumpable !== '0') return warn(evidence);
      return isLimited || /^\|\/(usr\/)?bin\/(false|true)/.test(pattern) ? pass(evidence) : warn(evidence);
    },
  },
];
