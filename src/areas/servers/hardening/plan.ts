/** The plan: plain data, shown by a dry run, stored, and then run exactly as it is. */

export const stepIds = [
  'updates',
  'unattended_upgrades',
  'accounts',
  'file_modes',
  'sysctl',
  'kernel_modules',
  'auditing',
  'firewall',
  'docker_ports',
  'fail2ban',
  'banner',
  'ssh_settings',
  'ssh_algorithms',
  'ssh_no_root',
  'ssh_no_passwords',
] as const;

/** In the order they are run: what restricts logins comes last. */
export type StepId = (typeof stepIds)[number];

export interface FileChange {
  readonly path: string;
  /** Null where there is no file. */
  readonly before: string | null;
  readonly after: string | null;
  /** Octal digits, `0644`. */
  readonly mode: string;
  readonly diff: string;
}

/** What has to hold on the server after the step; otherwise the step is undone. */
export type StepCheck =
  | {
      readonly kind: 'sshd';
      readonly user: string;
      readonly address: string;
      readonly expect: readonly SshdExpectation[];
    }
  | { readonly kind: 'succeeds'; readonly argv: readonly string[]; readonly says?: string };

/** About one line of `sshd -T`. */
export interface SshdExpectation {
  readonly key: string;
  readonly oneOf?: readonly string[];
  readonly atMost?: number;
  readonly atLeast?: number;
  /** No item of the list begins with one of these. */
  readonly without?: readonly string[];
  readonly includes?: string;
}

/** How the server undoes a step by itself: verbs of `server-scripts.ts`. */
export type UndoAction =
  | { readonly do: 'drop_table'; readonly unit: string; readonly table: string }
  | { readonly do: 'reload_ssh' }
  | { readonly do: 'restore_sysctl' }
  | { readonly do: 'restart_unit'; readonly unit: string };

export interface StepPlan {
  readonly id: StepId;
  readonly title: string;
  readonly why: string;
  /** Guarded by the dead-man timer and a new login. */
  readonly lockoutRisk: boolean;
  readonly packages: readonly string[];
  readonly files: readonly FileChange[];
  readonly commands: readonly (readonly string[])[];
  /** Paths in /etc that the commands change beside `files`. */
  readonly alsoTouches: readonly string[];
  readonly checks: readonly StepCheck[];
  readonly undo: readonly UndoAction[];
  /** Why it cannot be undone, where it cannot. */
  readonly undoNone?: string;
}

export interface PlanNote {
  readonly step: StepId;
  readonly text: string;
}

export interface Plan {
  readonly version: 1;
  /** Of everything it was computed from and says; the same fingerprint is the same plan. */
  readonly fingerprint: string;
  readonly system: string;
  readonly steps: readonly StepPlan[];
  /** What a person should know before it is run, and what was left out and why. */
  readonly notes: readonly PlanNote[];
}
