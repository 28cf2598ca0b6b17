/** The clock, the disk, and what keeps watch. */

import { UnreadableFact } from '../facts.ts';
import { fail, graded, notApplicable, pass, type Rule, type RuleVerdict, warn } from '../rule.ts';

export const systemRules: readonly Rule[] = [
  {
    id: 'time_synchronised',
    title: 'The clock is kept right',
    severity: 'medium',
    fix: 'Install systemd-timesyncd or chrony, and run `timedatectl set-ntp true`.',
    judge(facts): RuleVerdict {
      if (facts.container)
        return notApplicable(`The clock belongs to the host of this container (${facts.container}).`);
      const lines = facts.lines('time');
      const units = facts.following('time', 'unit');
      const shown = lines.filter((line) => /^(NTP|unit|Leap)/.test(line)).join('\n');
      const isSynchronised =
        lines.includes('NTPSynchronized=yes') || lines.some((line) => /^Leap status\s*: Normal$/.test(line));
      if (isSynchronised && units.length > 0) return pass(shown);
      return isSynchronised ? warn(`${shown}\nNo service keeps it so.`) : fail(shown);
    },
  },
  {
    id: 'clock_offset',
    title: 'The clock agrees with ours',
    severity: 'medium',
    fix: 'Set the clock by `timedatectl set-ntp true`; certificates and tokens are refused by a wrong clock.',
    judge(facts) {
      const [begun, ended] = ['clock', 'end'].map((name) => Number(facts.text(name).trim()) * 1000);
      if (!begun || !ended) throw new UnreadableFact('The server did not report its time.');
      const { sentMs, endedMs } = facts.roundTrip;
      // It began some time between; only what lies outside of that is wrong for certain.
      const latestMs = Math.max(sentMs, endedMs - (ended - begun));
      const offMs = begun < sentMs ? begun - sentMs : Math.max(0, begun - latestMs);
      const seconds = offMs / 1000;
      const evidence = `${seconds >= 0 ? '+' : ''}${seconds.toFixed(1)} s against our clock, to within ${((latestMs - sentMs) / 1000).toFixed(1)} s`;
      if (Math.abs(seconds) >= 60) return fail(evidence);
      return Math.abs(seconds) >= 5 ? warn(evidence) : pass(evidence);
    },
  },
  {
    id: 'disk_space',
    title: 'The disk has room',
    severity: 'medium',
    fix: 'Make room: `docker system df` shows what images take, `journalctl --vacuum-size=500M` shortens the logs.',
    judge(facts) {
      // Several folders can lie on one file system.
      const byMount = new Map<string, { percent: number; text: string }>();
      for (const line of facts.lines('disk')) {
        const [what = '', , , , , used = '', ...mount] = line.split(/\s+/);
        const text = `${mount.join(' ')}: ${used} of ${what} used`;
        // File systems without a fixed number of inodes show a dash.
        if (/^\d+%$/.test(used))
          byMount.set(`${what} ${mount}`, { percent: Number.parseInt(used, 10), text });
      }
      const mounts = [...byMount.values()];
      if (mounts.length === 0) throw new UnreadableFact('No file system was shown.');
      const over = (percent: number) =>
        mounts.filter((mount) => mount.percent >= percent).map(({ text }) => text);
      return graded(
        over(90),
        over(80).filter((text) => !over(90).includes(text)),
        mounts.map(({ text }) => text).join('\n'),
      );
    },
  },
  {
    id: 'apparmor',
    title: 'AppArmor confines programs',
    severity: 'medium',
    fix: 'Install apparmor, add `apparmor=1 security=apparmor` to the kernel line where it is off, and reboot.',
    judge(facts): RuleVerdict {
      const value = (word: string) => facts.following('apparmor', word)[0] ?? '';
      if (value('selinux') === '1') return pass('SELinux enforces.');
      if (facts.container && value('enabled') !== 'Y')
        return notApplicable(`The kernel belongs to the host of this container (${facts.container}).`);
      const evidence = `enabled: ${value('enabled') || 'no'}, enforced profiles: ${value('enforced') || 0}`;
      if (value('enabled') !== 'Y') return fail(evidence);
      return Number(value('enforced')) > 0 ? pass(evidence) : warn(evidence);
    },
  },
  {
    id: 'logs_kept',
    title: 'Logs survive a reboot',
    severity: 'low',
    fix: 'Set `Storage=persistent` in a file of /etc/systemd/journald.conf.d, and restart systemd-journald.',
    judge(facts) {
      const lines = facts.lines('logs');
      const storage =
        lines
          .filter((line) => line.startsWith('Storage='))
          .at(-1)
          ?.slice(8) ?? 'auto';
      const isKept = storage === 'persistent' || (storage === 'auto' && lines.includes('journal'));
      const writers = facts.following('logs', 'unit').filter((unit) => unit === 'rsyslog');
      const shown = `journald Storage=${storage}${lines.includes('journal') ? ', /var/log/journal exists' : ''} ${writers.join(' ')}`;
      return isKept || writers.length > 0 ? pass(shown) : warn(shown);
    },
  },
];
