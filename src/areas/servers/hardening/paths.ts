/** Paths on the server. */

export const stateDir = '/var/lib/slipway/hardening';
export const undoScriptPath = `${stateDir}/undo-step.sh`;
export const deadmanScriptPath = `${stateDir}/deadman.sh`;

/** Files that the system rewrites by itself; they are neither compared nor restored. */
export const volatileFiles: readonly string[] = [
  '/etc/ld.so.cache',
  '/etc/mtab',
  '/etc/resolv.conf',
  '/etc/adjtime',
  '/etc/.pwd.lock',
  '/etc/machine-id',
];

/** Shared by all packages and by people: restored where untouched, left as they are otherwise, never a refusal. */
export const sharedFiles: readonly string[] = [
  ...['/etc/passwd', '/etc/passwd-', '/etc/group', '/etc/group-', '/etc/shadow', '/etc/shadow-'],
  ...['/etc/gshadow', '/etc/gshadow-', '/etc/subuid', '/etc/subuid-', '/etc/subgid', '/etc/subgid-'],
];

const sshd = '/etc/ssh/sshd_config.d';

/** Every file that a step may write. The plan reads all of them in one go. */
export const paths = {
  sshBanner: `${sshd}/00-slipway-banner.conf`,
  sshSettings: `${sshd}/00-slipway-settings.conf`,
  sshAlgorithms: `${sshd}/00-slipway-algorithms.conf`,
  sshNoRoot: `${sshd}/00-slipway-root.conf`,
  sshNoPasswords: `${sshd}/00-slipway-passwords.conf`,
  issue: '/etc/issue.d/slipway.issue',
  firewall: '/etc/slipway/firewall.nft',
  firewallUnit: '/etc/systemd/system/slipway-firewall.service',
  dockerPorts: '/etc/slipway/docker-ports.nft',
  dockerPortsUnit: '/etc/systemd/system/slipway-docker-ports.service',
  fail2ban: '/etc/fail2ban/jail.d/zz-slipway.local',
  sysctl: '/etc/sysctl.d/zz-slipway.conf',
  modules: '/etc/modprobe.d/slipway.conf',
  limits: '/etc/security/limits.d/slipway.conf',
  profile: '/etc/profile.d/slipway.sh',
  coredump: '/etc/systemd/coredump.conf.d/slipway.conf',
  aptPeriodic: '/etc/apt/apt.conf.d/99slipway',
} as const;
