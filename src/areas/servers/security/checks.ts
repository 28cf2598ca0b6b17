/** Every check, in the order in which they are shown. Their ids are part of the API and stay. */

import type { Rule } from './rule.ts';
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
