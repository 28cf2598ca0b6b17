/** Who can become root on the server, and by what. */

import { type Facts, UnreadableFact } from '../facts.ts';
import { fail, graded, pass, type Rule, type RuleVerdict, unknown, warn } from '../rule.ts';

function accounts(facts: Facts, word: string): string[] {
  if (!facts.lines('accounts').includes('whole'))
    throw new UnreadableFact('The list of accounts is not whole.');
  const names = facts.following('accounts', word).flatMap((line) => line.split(/\s+/));
  return [...new Set(names.filter((name) => name !== ''))];
}

const ownSudoers = /^\/etc\/sudoers\.d\/90-slipway-/;

interface SudoLine {
  readonly file: string;
  readonly rule: string;
}

/** Lines that give root without a password to others than Slipway's user. */
function generousLines(facts: Facts, username: string): SudoLine[] {
  return facts
    .following('sudoers', 'line')
    .map((line) => ({ file: line.split(' ')[0] ?? '', rule: line.slice(line.indexOf(' ') + 1).trim() }))
    .filter(({ file, rule }) => {
      const who = rule.split(/[\s=]/)[0];
      return who !== username && !(ownSudoers.test(file) && who === 'slipway') && who !== 'root';
    });
}

export const accountRules: readonly Rule[] = [
  {
    id: 'empty_passwords',
    title: 'Every account has a password, or is locked',
    severity: 'critical',
    fix: 'Lock the account with `passwd -l <name>`, or give it a password with `passwd <name>`.',
    judge(facts) {
      const empty = accounts(facts, 'empty');
      return empty.length > 0
        ? fail(`without a password: ${empty.join(', ')}`)
        : pass('No account has an empty password.');
    },
  },
  {
    id: 'extra_root_accounts',
    title: 'Only root is root',
    severity: 'critical',
    fix: 'Find out who made the account; remove it, or give it a user id of its own.',
    judge(facts) {
      const zero = accounts(facts, 'zero');
      const extra = zero.filter((name) => name !== 'root');
      if (extra.length > 0) return fail(`user id 0: ${zero.join(', ')}`);
      return zero.length === 0 ? unknown('No account has the user id 0.') : pass('user id 0: root');
    },
  },
  {
    id: 'docker_group',
    title: 'Nobody is root by way of the docker group',
    severity: 'medium',
    fix: 'Remove each one who is not meant to be root: `gpasswd -d <name> docker`.',
    judge(facts, ctx) {
      const members = accounts(facts, 'docker');
      const others = members.filter((name) => name !== ctx.username && name !== 'root');
      const shown = members.join(', ') || 'nobody';
      return others.length > 0 ? warn(`docker group: ${shown}`) : pass(`docker group: ${shown}`);
    },
  },
  {
    id: 'sudo_without_password',
    title: 'Nobody but Slipway gets root without a password',
    severity: 'medium',
    lockoutRisk: true,
    fix: 'Take NOPASSWD out of the line with `visudo -f <file>`; give the person a password first.',
    judge(facts, ctx): RuleVerdict {
      if (facts.isAbsent('sudoers')) return pass('sudo is not installed.');
      const complaints = facts.following('sudoers', 'check').filter((line) => !line.endsWith('parsed OK'));
      if (complaints.length > 0) return unknown(`visudo -c: ${complaints.join('\n')}`);
      const found = generousLines(facts, ctx.username);
      return graded(
        [],
        found.map(({ file, rule }) => `${file}: ${rule}`),
        'visudo -c finds no other NOPASSWD.',
      );
    },
  },
  {
    id: 'authorized_keys',
    title: 'Every key that opens the server is strong',
    severity: 'medium',
    lockoutRisk: true,
    fix: 'Replace DSA keys and RSA keys under 3072 bits by ed25519 keys, prove the new login, then remove the old line. Remove keys that nobody knows.',
    judge(facts) {
      const lines = facts.lines('authorized_keys');
      if (!lines.includes('whole')) throw new UnreadableFact('The list of keys is not whole.');
      const keys: string[] = [];
      const unread: string[] = [];
      let owner = '';
      for (const line of lines) {
        const file = /^= (\S+) (.*) (\d+)$/.exec(line);
        if (file) owner = `${file[1]}, ${file[2]}: ${file[3]} lines`;
        const key = /^(\d+) (\S+) (.*)\(([A-Z0-9-]+)\)$/.exec(line);
        if (key) keys.push(`${key[4]} ${key[1]} ${key[3]?.trim() ?? ''} (${owner.split(',')[0]})`);
        else if (!file && line !== 'whole') unread.push(`${owner}: ${line}`);
      }
      const bits = (key: string) => Number(key.split(' ')[1]);
      const broken = keys.filter(
        (key) => key.startsWith('DSA ') || (key.startsWith('RSA ') && bits(key) < 2048),
      );
      const small = keys.filter((key) => key.startsWith('RSA ') && bits(key) >= 2048 && bits(key) < 3072);
      if (broken.length === 0 && unread.length > 0) return unknown(unread.join('\n'));
      return graded(
        broken,
        small,
        keys.length === 0 ? 'There is no key.' : `${keys.length} in all\n${keys.join('\n')}`,
      );
    },
  },
];
