/** Who gets in over SSH, and how; by the effective settings, never by reading files. */

import type { Facts } from '../facts.ts';
import { fail, graded, pass, type Rule, type RuleVerdict, warn } from '../rule.ts';
import {
  admittedViews,
  type SshdView,
  shownFor,
  sshdSetting,
  sshdViews,
  takesPassword,
} from './sshd-views.ts';

const dropIn =
  'in a file of /etc/ssh/sshd_config.d that sorts before the others (the first value wins), then reload ssh';

/** By the worst value that any admitted user gets. */
function byWorst(
  facts: Facts,
  key: string,
  gradeOf: (value: string, view: SshdView) => RuleVerdict['status'],
): RuleVerdict {
  const views = admittedViews(facts);
  const graded = views.map((view) => ({ view, status: gradeOf(sshdSetting(view, key), view) }));
  for (const status of ['fail', 'warn'] as const) {
    const those = graded.filter((each) => each.status === status).map(({ view }) => view);
    if (those.length > 0) return { status, evidence: shownFor(those, key) };
  }
  return pass(shownFor(views, key));
}

const only = (wanted: string, otherwise: 'fail' | 'warn') => (value: string) =>
  value === wanted ? 'pass' : otherwise;

export const sshdRules: readonly Rule[] = [
  {
    id: 'ssh_root_login',
    title: 'Root does not log in over SSH',
    severity: 'high',
    lockoutRisk: true,
    fix: `Log in as another user with sudo, prove that it works, then set \`PermitRootLogin no\` ${dropIn}.`,
    judge(facts) {
      const views = admittedViews(facts).filter(({ user }) => user === 'root');
      if (views.length === 0) return pass('AllowUsers or DenyUsers keeps root out.');
      const value = (view: SshdView) => sshdSetting(view, 'permitrootlogin');
      const withPassword = views.filter((view) =>
        (['password', 'keyboard-interactive'] as const).some((method) => takesPassword(view, method)),
      );
      if (withPassword.length > 0) return fail(shownFor(withPassword, 'permitrootlogin'));
      const entered = views.filter((view) => value(view) !== 'no');
      return entered.length > 0
        ? warn(`${shownFor(entered, 'permitrootlogin')}\nOnly with a key.`)
        : pass(shownFor(views, 'permitrootlogin'));
    },
  },
  {
    id: 'ssh_password_login',
    title: 'Nobody logs in over SSH with a password alone',
    severity: 'high',
    lockoutRisk: true,
    fix: `Prove a login with a key, then set \`PasswordAuthentication no\` ${dropIn}.`,
    judge: (facts) =>
      byWorst(facts, 'passwordauthentication', (value, view) => {
        if (takesPassword(view, 'password')) return 'fail';
        // Without a password nobody of those asked gets in; a user who is made tomorrow could.
        return value === 'yes' && sshdSetting(view, 'authenticationmethods') === 'any' ? 'fail' : 'pass';
      }),
  },
  {
    id: 'ssh_keyboard_interactive',
    title: 'No password comes in by the keyboard-interactive way',
    severity: 'high',
    lockoutRisk: true,
    fix: `Prove a login with a key, then set \`KbdInteractiveAuthentication no\` ${dropIn}.`,
    judge: (facts) =>
      byWorst(facts, 'kbdinteractiveauthentication', (_, view) =>
        takesPassword(view, 'keyboard-interactive') ? 'fail' : 'pass',
      ),
  },
  {
    id: 'ssh_empty_passwords',
    title: 'SSH takes no empty passwords',
    severity: 'critical',
    fix: `Set \`PermitEmptyPasswords no\` ${dropIn}.`,
    judge: (facts) => byWorst(facts, 'permitemptypasswords', only('no', 'fail')),
  },
  {
    id: 'ssh_max_auth_tries',
    title: 'A connection has few tries to log in',
    severity: 'low',
    lockoutRisk: true,
    fix: `Set \`MaxAuthTries 4\` ${dropIn}. A client that offers many keys must name the right one.`,
    judge: (facts) =>
      byWorst(facts, 'maxauthtries', (value) => {
        const tries = Number(value);
        return tries <= 4 ? 'pass' : tries <= 6 ? 'warn' : 'fail';
      }),
  },
  {
    id: 'ssh_login_grace',
    title: 'A login must be finished soon',
    severity: 'low',
    fix: `Set \`LoginGraceTime 30\` ${dropIn}.`,
    judge: (facts) =>
      byWorst(facts, 'logingracetime', (value) => {
        const seconds = Number(value);
        if (seconds > 0 && seconds <= 60) return 'pass';
        return seconds > 0 && seconds <= 120 ? 'warn' : 'fail';
      }),
  },
  {
    id: 'ssh_x11_forwarding',
    title: 'X11 is not forwarded',
    severity: 'low',
    fix: `Set \`X11Forwarding no\` ${dropIn}.`,
    judge: (facts) => byWorst(facts, 'x11forwarding', only('no', 'warn')),
  },
  {
    id: 'ssh_forwarding',
    title: 'Agents and TCP ports are not forwarded',
    severity: 'low',
    fix: `Set \`AllowAgentForwarding no\` and \`AllowTcpForwarding no\` ${dropIn}, unless someone needs them.`,
    judge(facts) {
      const keys = ['allowagentforwarding', 'allowtcpforwarding'];
      const verdicts = keys.map((key) =>
        byWorst(facts, key, (value, view) =>
          value === 'no' || view.settings.get('disableforwarding')?.[0] === 'yes' ? 'pass' : 'warn',
        ),
      );
      const poor = verdicts.filter(({ status }) => status === 'warn').map(({ evidence }) => evidence);
      return graded([], poor, verdicts.map(({ evidence }) => evidence).join('\n'));
    },
  },
  {
    id: 'ssh_user_limits',
    title: 'Only named users may log in over SSH',
    severity: 'low',
    lockoutRisk: true,
    fix: `Set \`AllowUsers\` or \`AllowGroups\` with all who need it, Slipway's user among them, ${dropIn}.`,
    judge(facts) {
      const views = sshdViews(facts);
      const limits = views.flatMap(({ settings }) => [
        ...(settings.get('allowusers') ?? []).map((name) => `allowusers ${name}`),
        ...(settings.get('allowgroups') ?? []).map((name) => `allowgroups ${name}`),
      ]);
      return limits.length > 0
        ? pass([...new Set(limits)].join('\n'))
        : warn('There is neither AllowUsers nor AllowGroups.');
    },
  },
];
