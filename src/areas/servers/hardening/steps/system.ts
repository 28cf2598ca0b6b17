/** Updates, accounts, kernel modules and the tools that notice a change. */
import { paths } from '../paths.ts';
import { fileChange, header, isUnchanged, missingPackages, type StepMaker, step } from './step.ts';

const dayInSeconds = 86_400;

// Only what comes from a security archive: a point release may wait for its owner.
export const upgradeScript = `apt-get update -q
list=$(apt-get -s -q --with-new-pkgs upgrade | grep -iE '^Inst .*security' | awk '{print $2}') || true
if [ -n "$list" ]; then
  apt-get install -y -q --only-upgrade -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold $list
fi
mkdir -p /var/lib/slipway
touch /var/lib/slipway/apt-refreshed`;

export const updates: StepMaker = ({ state }) => {
  const { securityUpdates: pending, listsAgeSeconds } = state;
  if (pending.length === 0 && listsAgeSeconds < dayInSeconds) return undefined;
  const known = pending.length > 0 ? `Pending: ${pending.slice(0, 30).join(', ')}.` : '';
  return step({
    id: 'updates',
    title: 'Install pending security updates',
    why: known || 'The lists of packages are older than a day, so nobody knows what is pending.',
    commands: [['sh', '-euc', upgradeScript]],
    undoNone: 'Packages are not downgraded to a version with known vulnerabilities.',
  });
};

const periodic = `${header.replace('#', '//')}APT::Periodic::Update-Package-Lists "1";
APT::Periodic::Unattended-Upgrade "1";
APT::Periodic::AutocleanInterval "7";
Unattended-Upgrade::Remove-Unused-Kernel-Packages "true";
Unattended-Upgrade::Automatic-Reboot "false";
`;

export const unattendedUpgrades: StepMaker = ({ state }) => {
  const packages = missingPackages(state, ['unattended-upgrades']);
  const files = [fileChange(state, paths.aptPeriodic, periodic)];
  const timers = ['apt-daily.timer', 'apt-daily-upgrade.timer'];
  const stopped = timers.filter((unit) => state.units.get(unit)?.active !== 'active');
  if (packages.length === 0 && isUnchanged(files) && stopped.length === 0) return undefined;
  return step({
    id: 'unattended_upgrades',
    title: 'Install security updates every day by themselves',
    why: 'Most servers fall to a hole that was closed weeks before. It never reboots by itself.',
    packages,
    files,
    commands: stopped.length > 0 ? [['systemctl', 'enable', '--now', ...stopped]] : [],
    alsoTouches: ['/etc/systemd/system/timers.target.wants'],
    checks: [
      {
        kind: 'succeeds',
        argv: ['apt-config', 'dump', 'APT::Periodic::Unattended-Upgrade'],
        says: 'Upgrade "1"',
      },
    ],
  });
};

// Only a shell that waits at its prompt ends; what runs in it is not counted as idle.
const idle = 'TMOUT=3600\n';

export const accounts: StepMaker = ({ state, request }) => {
  const files = [
    fileChange(state, paths.limits, `${header}* soft core 0\n* hard core 0\n`),
    fileChange(state, paths.profile, `${header}ulimit -c 0\n${idle}`),
    fileChange(state, paths.coredump, `${header}[Coredump]\nStorage=none\nProcessSizeMax=0\n`),
  ];
  const empty = state.emptyPasswords;
  if (isUnchanged(files) && empty.length === 0) return undefined;
  return step({
    id: 'accounts',
    title: 'No accounts without a password, no core dumps, no idle shells',
    why:
      empty.length > 0
        ? `Anyone can become ${empty.join(', ')} without a password. A core dump can hold secrets.`
        : 'A core dump can hold keys and passwords of the program that died. A shell that waits for an hour ends.',
    lockoutRisk: empty.includes(request.username),
    files,
    commands: empty.map((name) => ['usermod', '--lock', name]),
    alsoTouches: empty.length > 0 ? ['/etc/shadow', '/etc/shadow-'] : [],
  });
};

const rare = ['dccp', 'sctp', 'rds', 'tipc', 'firewire-core', 'firewire-ohci', 'firewire-sbp2'];

export const kernelModules: StepMaker = ({ state }) => {
  const text = rare.map((name) => `blacklist ${name}\ninstall ${name} /bin/false\n`).join('');
  const files = [fileChange(state, paths.modules, header + text)];
  if (isUnchanged(files)) return undefined;
  return step({
    id: 'kernel_modules',
    title: 'Do not load rare network protocols and FireWire',
    why: 'Their code is little used, and holes in it let any local program become root. What is loaded now stays.',
    files,
  });
};

// Each earns its place: who ran what (acct), altered programs (debsums), what an update changes (apt-listchanges),
// passwords that are worth the name (libpam-passwdqc). Left out: scanners for rootkits and needrestart, which bring a
// linker, and libpam-tmpdir, which breaks programs that change their user.
const tools = ['acct', 'apt-listchanges', 'debsums', 'libpam-passwdqc'];

export const auditing: StepMaker = ({ state }) => {
  const packages = missingPackages(state, tools);
  if (packages.length === 0) return undefined;
  return step({
    id: 'auditing',
    title: 'Install what notices a break-in',
    why: 'Altered programs, what an update changes, who ran what; and no new weak passwords.',
    packages,
    // The packages bring folders for cron, open to everyone as they come.
    commands: [
      [
        'find',
        '/etc',
        '-maxdepth',
        '1',
        '-name',
        'cron.*',
        '-type',
        'd',
        '-exec',
        'chmod',
        '0700',
        '{}',
        '+',
      ],
    ],
  });
};
