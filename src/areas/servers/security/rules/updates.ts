/** Whether the server gets its security fixes, by itself, from sources that are signed, and runs them. */
import { day } from '../../../../clock.ts';
import { type Facts, UnreadableFact } from '../facts.ts';
import { fail, graded, notApplicable, pass, type Rule, unknown, warn } from '../rule.ts';

const maxAgeDays = 7;

interface Source {
  /** As apt names its file: site, path and release, without user or password. */
  readonly name: string;
  readonly isSigned: boolean;
  readonly from: number;
}

function sources(facts: Facts): Source[] {
  return facts.following('apt_lists', 'release').map((line) => {
    const found = /^(\S+) (yes|no) Date: (.*)$/.exec(line);
    if (!found) throw new UnreadableFact(`A package list cannot be read: ${line}`);
    const name = (found[1] ?? '').replace(/_(In)?Release$/, '');
    return { name, isSigned: found[2] === 'yes', from: Date.parse(found[3] ?? '') };
  });
}

function isSecurity({ name }: Source): boolean {
  return /_dists_[^_]+-security$/.test(name);
}

/** When the archive last published security fixes: signed by it, so neither a copy nor a touch makes it younger. */
function listsFrom(facts: Facts): Date {
  const dates = sources(facts)
    .filter(isSecurity)
    .map(({ from }) => from);
  const stamps = facts.following('apt_lists', 'stamp').map((seconds) => Number(seconds) * 1000);
  const newest = Math.max(
    ...[...dates, ...(dates.length > 0 ? stamps : [])].filter((each) => Number.isFinite(each)),
  );
  if (!Number.isFinite(newest)) throw new UnreadableFact('There are no package lists for security fixes.');
  return new Date(newest);
}

/** Until when each release gets security fixes without a contract. Debian: the end of its long-term support. */
const supportEnds: Readonly<Record<string, string>> = {
  'debian 10': '2024-06-30',
  'debian 11': '2026-08-31',
  'debian 12': '2028-06-30',
  'debian 13': '2030-06-30',
  'ubuntu 20.04': '2025-05-31',
  'ubuntu 22.04': '2027-06-01',
  'ubuntu 22.10': '2023-07-20',
  'ubuntu 23.04': '2024-01-25',
  'ubuntu 23.10': '2024-07-11',
  'ubuntu 24.04': '2029-05-31',
  'ubuntu 24.10': '2025-07-10',
  'ubuntu 25.04': '2026-01-15',
  'ubuntu 25.10': '2026-07-09',
  'ubuntu 26.04': '2031-05-29',
};

function supportEnd(id: string, version: string): Date | undefined {
  const key = `${id} ${version}`;
  const end = Object.hasOwn(supportEnds, key) ? supportEnds[key] : undefined;
  return end === undefined ? undefined : new Date(`${end}T23:59:59Z`);
}

export const updateRules: readonly Rule[] = [
  {
    id: 'security_updates',
    title: 'No security fix waits to be installed',
    severity: 'high',
    fix: 'Run `apt-get update && apt-get upgrade`, and restart what was changed.',
    judge(facts, ctx) {
      const from = listsFrom(facts);
      const ageDays = Math.floor((ctx.now.getTime() - from.getTime()) / day);
      const summary = `The package lists are of ${from.toISOString().slice(0, 10)}, ${ageDays} days old.`;
      const lines = facts.lines('apt');
      const pending = lines.filter(
        (line) => line.startsWith('Inst ') && /-security[\s,[)/]|Debian-Security/.test(line),
      );
      if (pending.length > 0) {
        const names = pending.map((line) => line.split(' ')[1]);
        return fail(`${pending.length} waiting: ${names.join(', ')}\n${summary}`);
      }
      if (!lines.some((line) => /^\d+ upgraded/.test(line)))
        return unknown(
          `apt could not say what it would do: ${lines.slice(0, 3).join(' ') || 'no answer in time'}`,
        );
      if (ageDays > maxAgeDays) return unknown(`${summary} Newer fixes are not in them.`);
      return pass(`Nothing waits. ${summary}`);
    },
  },
  {
    id: 'automatic_updates',
    title: 'Security fixes are installed by themselves',
    severity: 'medium',
    fix: 'Install unattended-upgrades, set APT::Periodic::Update-Package-Lists and APT::Periodic::Unattended-Upgrade to "1" in a file of /etc/apt/apt.conf.d, and enable apt-daily.timer and apt-daily-upgrade.timer.',
    judge(facts) {
      const lines = facts.lines('apt_config');
      const value = (key: string) =>
        /"(.*)"/.exec(lines.find((line) => line.startsWith(`${key} `)) ?? '')?.[1];
      const periodic = (key: string) => {
        const found = value(`APT::Periodic::${key}`);
        return found === undefined || /^0*[smhd]?$/.test(found)
          ? [`APT::Periodic::${key} is ${found ?? 'not set'}`]
          : [];
      };
      const idle = facts.following('apt_config', 'timer').filter((line) => !line.endsWith(' active'));
      const isInstalled = facts.following('apt_config', 'package')[0] === 'installed';
      const coversSecurity = lines.some(
        (line) => line.startsWith('Unattended-Upgrade::') && /security/i.test(line),
      );
      const missing = [
        ...(isInstalled ? [] : ['unattended-upgrades is not installed']),
        ...periodic('Update-Package-Lists'),
        ...periodic('Unattended-Upgrade'),
        ...(value('APT::Periodic::Enable') === '0' ? ['APT::Periodic::Enable is 0'] : []),
        ...idle,
        ...(isInstalled && !coversSecurity ? ['no security archive is among its origins'] : []),
      ];
      return graded(missing, [], 'unattended-upgrades runs by apt-daily-upgrade.timer.');
    },
  },
  {
    id: 'reboot_needed',
    title: 'The server runs what is installed',
    severity: 'medium',
    fix: 'Reboot the server at a quiet time.',
    judge(facts) {
      const packages = facts.following('reboot', 'package').join(', ');
      if (facts.lines('reboot').includes('required')) return warn(`/run/reboot-required ${packages}`);
      const running = facts.following('reboot', 'running')[0];
      if (!running) throw new UnreadableFact('The server did not report which kernel it runs.');
      const kernels = facts.following('reboot', 'kernel').map((name) => name.replace('vmlinuz-', ''));
      if (kernels.length === 0)
        return notApplicable(
          `No kernel is installed${facts.container ? `: this is a container (${facts.container})` : ''}; ${running} runs.`,
        );
      const newest = kernels.toSorted(byVersion).at(-1) ?? '';
      return byVersion(running, newest) < 0
        ? warn(`${running} runs, ${newest} is installed.`)
        : pass(`${running} runs, and is the newest.`);
    },
  },
  {
    id: 'package_sources',
    title: 'Packages come from signed sources, security fixes among them',
    severity: 'high',
    fix: 'Remove `trusted=yes`, `allow-insecure=yes` and AllowUnauthenticated from /etc/apt, give each source its key by `signed-by`, and add the security archive of the distribution.',
    judge(facts) {
      const all = sources(facts);
      const unsigned = all.filter(({ isSigned }) => !isSigned);
      const careless = facts
        .lines('apt_config')
        .filter((line) => /^(APT::Get::AllowUnauthenticated|Acquire::Allow\w+) "(1|true|yes)"/.test(line));
      const forced = facts.following('apt_lists', 'forced');
      const bad = [
        ...unsigned.map(({ name }) => `${name} is not signed`),
        ...forced.map((line) => `${line}: trusted without a signature`),
        ...careless,
        ...(all.length === 0 || all.some(isSecurity) ? [] : ['No source is a security archive.']),
      ];
      if (all.length === 0 && bad.length === 0)
        return unknown('apt has no package lists to show its sources by.');
      return graded([...new Set(bad)], [], all.map(({ name }) => name).join('\n'));
    },
  },
  {
    id: 'os_supported',
    title: 'The operating system still gets security fixes',
    severity: 'high',
    fix: 'Upgrade the distribution to a release that is supported, or move to a new server.',
    judge(facts, ctx) {
      const value = (key: string) =>
        (
          facts
            .lines('os')
            .find((line) => line.startsWith(`${key}=`))
            ?.slice(key.length + 1) ?? ''
        ).replaceAll('"', '');
      const name = value('PRETTY_NAME') || 'An unknown system';
      const until = supportEnd(value('ID'), value('VERSION_ID'));
      if (!until) return unknown(`${name}: it is not known until when it is supported.`);
      const leftDays = (until.getTime() - ctx.now.getTime()) / day;
      const summary = `${name} gets security fixes until ${until.toISOString().slice(0, 10)}.`;
      if (leftDays < 0) return fail(summary);
      return leftDays < 90 ? warn(summary) : pass(summary);
    },
  },
];

/** As the numbers in them go: 6.1.0-10 after 6.1.0-9. */
function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
