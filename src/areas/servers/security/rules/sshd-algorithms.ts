/** What sshd offers for its encryption, and whether what it runs with is what its files say. */

import { type Facts, UnreadableFact } from '../facts.ts';
import { listeners } from '../port-probes.ts';
import { graded, pass, type Rule, type RuleVerdict, unknown, warn } from '../rule.ts';
import { sshdViews } from './sshd-views.ts';

const dropIn = 'in a file of /etc/ssh/sshd_config.d, then reload ssh';

function first(facts: Facts): ReadonlyMap<string, readonly string[]> {
  const settings = sshdViews(facts)[0]?.settings;
  if (!settings) throw new UnreadableFact('`sshd -T` did not show its settings.');
  return settings;
}

function offered(facts: Facts, key: string): string[] {
  const list = first(facts).get(key)?.[0];
  if (!list) throw new UnreadableFact(`\`sshd -T\` does not show ${key}.`);
  return list.split(',');
}

/** Broken ones fail; those that experts have turned away from warn. */
function judged(names: readonly string[], broken: RegExp, disliked: RegExp): RuleVerdict {
  const bad = names.filter((name) => broken.test(name));
  const poor = names.filter((name) => disliked.test(name) && !broken.test(name));
  const labelled = (label: string, list: readonly string[]) =>
    list.length > 0 ? [`${label}: ${list.join(', ')}`] : [];
  return graded(labelled('broken', bad), labelled('better left out', poor), names.join(', '));
}

/** Only algorithms that a loaded host key can use are ever offered. */
function usableHostKeyAlgorithms(facts: Facts): string[] {
  const loaded = facts.lines('host_keys').map((line) => /\(([A-Z0-9-]+)\)$/.exec(line)?.[1] ?? '');
  if (loaded.length === 0) throw new UnreadableFact('No host key was found.');
  const kinds: readonly (readonly [string, RegExp])[] = [
    ['RSA', /^(ssh-rsa|rsa-)/],
    ['ECDSA', /^ecdsa-/],
    ['ED25519', /^ssh-ed25519/],
    ['DSA', /^ssh-dss/],
  ];
  return offered(facts, 'hostkeyalgorithms').filter((name) =>
    kinds.some(([kind, pattern]) => loaded.includes(kind) && pattern.test(name)),
  );
}

export const sshdAlgorithmRules: readonly Rule[] = [
  {
    id: 'ssh_key_exchange',
    title: 'SSH agrees on keys by sound methods only',
    severity: 'medium',
    lockoutRisk: true,
    fix: `Set \`KexAlgorithms\` to the curve25519, sntrup761 and mlkem768 methods ${dropIn}; very old clients then cannot connect.`,
    judge: (facts) => judged(offered(facts, 'kexalgorithms'), /sha1($|-)|group1-/, /nistp|group14-sha256/),
  },
  {
    id: 'ssh_ciphers',
    title: 'SSH encrypts by sound methods only',
    severity: 'medium',
    lockoutRisk: true,
    fix: `Set \`Ciphers\` to the gcm, ctr and chacha20 ones ${dropIn}.`,
    judge: (facts) => judged(offered(facts, 'ciphers'), /cbc|3des|arcfour|blowfish|cast128|^none$/, /$^/),
  },
  {
    id: 'ssh_macs',
    title: 'SSH guards messages by sound methods only',
    severity: 'medium',
    lockoutRisk: true,
    fix: `Set \`MACs\` to hmac-sha2-256-etm, hmac-sha2-512-etm and umac-128-etm ${dropIn}.`,
    judge: (facts) => judged(offered(facts, 'macs'), /md5|sha1|-96|ripemd|^none$/, /umac-64|^(?!.*-etm@)/),
  },
  {
    id: 'ssh_host_keys',
    title: 'The server proves itself by sound keys only',
    severity: 'medium',
    lockoutRisk: true,
    fix: `Name the ed25519 key, and an RSA key of at least 3072 bits if it is needed, by \`HostKey\` and \`HostKeyAlgorithms\` ${dropIn}; keep the key that Slipway has pinned.`,
    judge(facts) {
      const algorithms = judged(usableHostKeyAlgorithms(facts), /^ssh-rsa|^ssh-dss/, /nistp/);
      const sizes = facts.lines('host_keys').map((line) => {
        const found = /^(\S+) (\d+) .*\(([A-Z0-9-]+)\)$/.exec(line);
        if (!found) throw new UnreadableFact(`A host key cannot be read: ${line}`);
        return { text: `${found[1]} ${found[3]} ${found[2]}`, kind: found[3], bits: Number(found[2]) };
      });
      const small = (bits: number) =>
        sizes.filter((key) => key.kind === 'RSA' && key.bits < bits).map(({ text }) => text);
      const bad = [...small(2048), ...(algorithms.status === 'fail' ? [algorithms.evidence] : [])];
      const poor = [...small(3072), ...(algorithms.status === 'warn' ? [algorithms.evidence] : [])];
      return graded(bad, poor, sizes.map(({ text }) => text).join('\n'));
    },
  },
  {
    id: 'ssh_config_applied',
    title: 'The running SSH server uses the settings on disk',
    severity: 'medium',
    lockoutRisk: true,
    fix: 'Check the settings with `sshd -t`, then run `systemctl reload ssh`, or `systemctl restart ssh` where ssh.socket holds the port. Until then the checks above show what will hold after the next start.',
    judge(facts) {
      const value = (key: string) =>
        facts
          .lines('sshd_running')
          .find((line) => line.startsWith(`${key}=`))
          ?.slice(key.length + 1) ?? '';
      const since = Number(value('StateChangeTimestamp').replace('@', ''));
      const [changed = '', path = ''] = value('NewestFile').split(' ');
      if (!since || !changed) return unknown('systemd does not report since when ssh.service runs.');
      // Where systemd holds the port, the socket says which, and sshd reads its settings when someone comes.
      const isBySocket = value('Socket') === 'active';
      if (isBySocket && value('ActiveState') !== 'active')
        return pass('ssh.socket starts it for each visitor');
      const wanted = isBySocket ? [] : (first(facts).get('port') ?? []).map(Number);
      const found = listeners(facts).filter(({ program }) => program === 'sshd' || program === 'systemd');
      const silent = wanted.filter((port) => !found.some((each) => each.port === port));
      const extra = found.filter(
        ({ program, port }) => !isBySocket && program === 'sshd' && !wanted.includes(port),
      );
      const findings = [
        ...(Number(changed) > since + 1 ? [`${path} was changed after ssh.service read it`] : []),
        ...silent.map((port) => `port ${port} is set, but sshd does not listen there`),
        ...extra.map(({ port }) => `sshd listens on port ${port}, which is not set`),
      ];
      const where = (first(facts).get('listenaddress') ?? []).join(', ');
      return findings.length > 0 ? warn(findings.join('\n')) : pass(`listens on ${where}`);
    },
  },
];
