/** Every check, in the order in which they are shown. Their ids are part of the API and stay. */
import { accountRules } from './accounts.ts';
import type { Rule } from './check.ts';
import { dockerRules } from './docker.ts';
import { fail2banRules } from './fail2ban.ts';
import { fileRules } from './files.ts';
import { firewallRules } from './firewall.ts';
import { kernelRules } from './kernel.ts';
import { sshdRules } from './sshd.ts';
import { sshdAlgorithmRules } from './sshd-algorithms.ts';
import { systemRules } from './system.ts';
import { updateRules } from './updates.ts';

export const rules: readonly Rule[] = [
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
