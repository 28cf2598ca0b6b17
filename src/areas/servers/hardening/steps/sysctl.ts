/** Kernel settings that cost nothing. Forwarding and router advertisements are left alone: Docker and SLAAC need them. */
import { paths } from '../paths.ts';
import { fileChange, header, isUnchanged, type StepMaker, step } from './step.ts';

/** The value to set, and others that are as good. */
export const sysctlTargets: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'dev.tty.ldisc_autoload': ['0'],
  'fs.protected_fifos': ['2'],
  'fs.protected_hardlinks': ['1'],
  'fs.protected_regular': ['2'],
  'fs.protected_symlinks': ['1'],
  'fs.suid_dumpable': ['0'],
  'kernel.core_uses_pid': ['1'],
  'kernel.dmesg_restrict': ['1'],
  'kernel.kptr_restrict': ['2'],
  'kernel.perf_event_paranoid': ['3', '4'],
  'kernel.randomize_va_space': ['2'],
  'kernel.sysrq': ['0'],
  // 1 could not be undone before the next boot.
  'kernel.unprivileged_bpf_disabled': ['2', '1'],
  'kernel.yama.ptrace_scope': ['1', '2', '3'],
  'net.core.bpf_jit_harden': ['2'],
  'net.ipv4.conf.all.accept_redirects': ['0'],
  'net.ipv4.conf.all.accept_source_route': ['0'],
  'net.ipv4.conf.all.bootp_relay': ['0'],
  'net.ipv4.conf.all.log_martians': ['1'],
  'net.ipv4.conf.all.proxy_arp': ['0'],
  'net.ipv4.conf.all.secure_redirects': ['0'],
  'net.ipv4.conf.all.send_redirects': ['0'],
  'net.ipv4.conf.default.accept_redirects': ['0'],
  'net.ipv4.conf.default.accept_source_route': ['0'],
  'net.ipv4.conf.default.log_martians': ['1'],
  'net.ipv4.conf.default.send_redirects': ['0'],
  'net.ipv4.icmp_echo_ignore_broadcasts': ['1'],
  'net.ipv4.icmp_ignore_bogus_error_responses': ['1'],
  'net.ipv4.tcp_syncookies': ['1', '2'],
  'net.ipv6.conf.all.accept_redirects': ['0'],
  'net.ipv6.conf.all.accept_source_route': ['0'],
  'net.ipv6.conf.default.accept_redirects': ['0'],
  'net.ipv6.conf.default.accept_source_route': ['0'],
};

export const sysctl: StepMaker = ({ state, note }) => {
  const here = Object.entries(sysctlTargets).filter(([key]) => state.sysctl.has(key));
  const fixed = here.filter(([key, wanted]) => {
    const now = state.sysctl.get(key);
    return now !== undefined && !now.isWritable && !wanted.includes(now.value);
  });
  if (fixed.length > 0)
    note('sysctl', `Read-only on this server, left as they are: ${fixed.map(([key]) => key).join(', ')}.`);
  const settable = here.filter(([key]) => state.sysctl.get(key)?.isWritable);
  const text = settable.map(([key, [value, ...asGood]]) => {
    const now = state.sysctl.get(key)?.value ?? '';
    return `${key} = ${asGood.includes(now) ? now : value}\n`;
  });
  const files = [fileChange(state, paths.sysctl, header + text.join(''))];
  const differs = settable.filter(([key, wanted]) => !wanted.includes(state.sysctl.get(key)?.value ?? ''));
  if (settable.length === 0 || (isUnchanged(files) && differs.length === 0)) return undefined;
  return step({
    id: 'sysctl',
    title: 'Set the kernel’s own protections',
    why: 'Kernel addresses are hidden, redirects and source routes are ignored, core dumps of privileged programs are off.',
    files,
    commands: [['sysctl', '--quiet', '--load', paths.sysctl]],
    checks: differs.map(([key, [value]]) => ({
      kind: 'succeeds',
      argv: ['sysctl', '--values', key],
      says: value,
    })),
    undo: [{ do: 'restore_sysctl' }],
  });
};
