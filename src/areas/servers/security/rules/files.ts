/** Files that decide who gets in must be closed to others. */

import { UnreadableFact } from '../facts.ts';
import { fail, pass, type Rule } from '../rule.ts';

/** Bits that must not be set. Home folders: sshd itself refuses keys where others can write. */
const forbidden: Readonly<Record<string, number>> = {
  home: 0o022,
  private: 0o177,
  shadow: 0o137,
  shared: 0o022,
};

export const fileRules: readonly Rule[] = [
  {
    id: 'file_modes',
    title: 'Keys, passwords and settings are closed to others',
    severity: 'high',
    fix: 'Give them back: `chmod 600` for ssh_host_*_key, `chmod 640` and group shadow for /etc/shadow, `chmod 700` for .ssh and `chmod 600` for authorized_keys, each owned by its user.',
    judge(facts) {
      const lines = [...new Set(facts.lines('modes'))];
      const found = lines.flatMap((line) => {
        const [kind = '', mode = '', owner = '', wanted = '', ...rest] = line.split(' ');
        const bits = forbidden[kind];
        if (bits === undefined) throw new UnreadableFact(`A file mode cannot be read: ${line}`);
        const isWrong = (Number.parseInt(mode, 8) & bits) !== 0 || (owner !== wanted && owner !== 'root');
        // The keys in .ssh are nobody else's to read either.
        const isOpen =
          kind === 'home' && /\/\.ssh$/.test(rest.join(' ')) && (Number.parseInt(mode, 8) & 0o077) !== 0;
        return isWrong || isOpen ? [`${mode} ${owner} ${rest.join(' ')}`] : [];
      });
      if (!lines.some((line) => line.endsWith(' /etc/shadow')))
        throw new UnreadableFact('The mode of /etc/shadow was not reported.');
      return found.length > 0 ? fail(found.join('\n')) : pass(`${lines.length} files and folders checked.`);
    },
  },
  {
    id: 'world_writable_etc',
    title: 'Nothing in /etc can be written by everyone',
    severity: 'high',
    fix: 'Take the right away: `chmod o-w <file>`; then check what is in the file.',
    judge(facts) {
      const lines = facts.lines('world_writable');
      const found = lines.filter((line) => line !== 'whole');
      if (found.length > 0) return fail(found.join('\n'));
      if (lines.length === 0) throw new UnreadableFact('/etc could not be searched in time.');
      return pass('None is.');
    },
  },
];
