/** sshd, by drop-ins of our own whose names sort first: the first value of a setting is the one that counts. */
import { paths } from '../paths.ts';
import type { SshdExpectation, StepId, StepPlan } from '../plan.ts';
import { plainAddress } from '../plan-request.ts';
import { meetsExpectation, type ServerState } from '../server-state.ts';
import { fileChange, header, isUnchanged, type Planning, type StepMaker, step } from './step.ts';

type Setting = readonly [line: string, expect: Omit<SshdExpectation, 'key'>];

interface SshStep {
  readonly id: StepId;
  readonly title: string;
  readonly why: string;
  readonly path: string;
  readonly user: string;
  readonly settings: readonly Setting[];
}

function sshStep({ state, request, note }: Planning, about: SshStep): StepPlan | undefined {
  const { id, title, why, path, user, settings } = about;
  const effective = user === 'root' ? state.sshdForRoot : state.sshd;
  const expect = settings.map(([line, rest]) => ({ key: (line.split(' ')[0] ?? '').toLowerCase(), ...rest }));
  const files = [fileChange(state, path, `${header}${settings.map(([line]) => `${line}\n`).join('')}`)];
  // Some versions do not print every setting; there the file has to do as evidence.
  const shown = expect.filter(({ key }) => effective.has(key));
  const isMet = shown.every((each) => meetsExpectation(each, effective));
  if (isMet && (shown.length === expect.length || isUnchanged(files))) return undefined;
  if (!state.hasDropIns) {
    note(id, 'Left out: /etc/ssh/sshd_config does not include /etc/ssh/sshd_config.d/*.conf.');
    return undefined;
  }
  // Where systemd holds the port, a reload would have sshd ask for it a second time, and die of that.
  const isBySocket = state.units.get('ssh.socket')?.active === 'active';
  return step({
    id,
    title,
    why,
    files,
    lockoutRisk: true,
    commands: [
      ['sshd', '-t'],
      ['systemctl', isBySocket ? 'try-restart' : 'reload', 'ssh.service'],
    ],
    checks: [{ kind: 'sshd', user, address: plainAddress(request.ourAddress), expect: shown }],
    undo: [{ do: 'reload_ssh' }],
  });
}

const yes = (...oneOf: string[]) => ({ oneOf });

export const sshSettings: StepMaker = (planning) => {
  const { state, request } = planning;
  const ours = plainAddress(request.ourAddress);
  const exempt = state.sshd.get('persourcepenaltyexemptlist')?.[0];
  const others = exempt === undefined || exempt === 'none' ? [] : exempt.split(',');
  const list = [...new Set([...others, ours])].join(',');
  const penalties: Setting[] =
    exempt === undefined ? [] : [[`PerSourcePenaltyExemptList ${list}`, { includes: ours }]];
  return sshStep(planning, {
    id: 'ssh_settings',
    title: 'Narrow what sshd offers',
    why: 'No forwarding that nobody uses, fewer tries, dead sessions end. Local port forwarding stays, and ten sessions a connection, which Slipway needs.',
    path: paths.sshSettings,
    user: request.username,
    settings: [
      ['PermitEmptyPasswords no', yes('no')],
      ['X11Forwarding no', yes('no')],
      ['AllowAgentForwarding no', yes('no')],
      ['AllowTcpForwarding local', yes('no', 'local')],
      ['GatewayPorts no', yes('no')],
      ['PermitTunnel no', yes('no')],
      ['PermitUserEnvironment no', yes('no')],
      ['HostbasedAuthentication no', yes('no')],
      ['IgnoreRhosts yes', yes('yes')],
      ['StrictModes yes', yes('yes')],
      ['UseDNS no', yes('no')],
      ['Compression no', yes('no')],
      ['TCPKeepAlive no', yes('no')],
      ['LogLevel VERBOSE', yes('VERBOSE', 'DEBUG')],
      ['LoginGraceTime 30', { atLeast: 10, atMost: 60 }],
      ['MaxAuthTries 4', { atMost: 6, atLeast: 3 }],
      ['MaxSessions 10', { atLeast: 10 }],
      ['ClientAliveInterval 60', { atLeast: 1, atMost: 600 }],
      ['ClientAliveCountMax 2', { atLeast: 1, atMost: 3 }],
      ...penalties,
    ],
  });
};

const weakKex = [
  'ecdh-sha2-nistp',
  'diffie-hellman-group-exchange-',
  'diffie-hellman-group14-',
  'diffie-hellman-group1-',
];
const weakMacs = ['umac-64', 'hmac-sha1', 'hmac-md5', 'umac-128@', 'hmac-sha2-256', 'hmac-sha2-512'];
const weakCiphers = ['3des', 'aes128-cbc', 'aes192-cbc', 'aes256-cbc', 'arcfour', 'blowfish', 'cast128'];
const weakHostKeys = ['ssh-rsa', 'ssh-dss'];

export const sshAlgorithms: StepMaker = (planning) => {
  const { state, request, note } = planning;
  const pinned = state.hostKeys.get(request.pinnedHostKey ?? '');
  const usesEcdsa = pinned === 'ECDSA';
  if (usesEcdsa) note('ssh_algorithms', 'The pinned host key is an ECDSA one, so ECDSA host keys stay.');
  const hostKeys = [...weakHostKeys, ...(usesEcdsa ? [] : ['ecdsa-', 'sk-ecdsa-'])];
  const minus = (names: readonly string[]) => `-${names.map((name) => `${name}*`).join(',')}`;
  // The two that authenticate what was encrypted are kept; their names begin like the weak ones.
  const macs = weakMacs.map((name) => (name.startsWith('hmac-sha2') ? name : `${name}*`)).join(',');
  return sshStep(planning, {
    id: 'ssh_algorithms',
    title: 'Only strong algorithms for SSH',
    why: 'Taken away from what this sshd knows, so that new ones come by themselves. Keys of people are not affected.',
    path: paths.sshAlgorithms,
    user: request.username,
    settings: [
      [`KexAlgorithms ${minus(weakKex)}`, { without: weakKex }],
      [`Ciphers ${minus(weakCiphers)}`, { without: weakCiphers }],
      [`MACs -${macs}`, { without: ['umac-64', 'hmac-sha1', 'hmac-md5', 'umac-128@'] }],
      [`HostKeyAlgorithms ${minus(hostKeys)}`, { without: hostKeys }],
    ],
  });
};

export const sshNoRoot: StepMaker = (planning) => {
  const { state, request, note } = planning;
  const weAreRoot = request.username === 'root';
  const plan = sshStep(planning, {
    id: 'ssh_no_root',
    title: weAreRoot ? 'Root logs in by key only' : 'Root does not log in',
    why: weAreRoot
      ? 'Everyone tries the password of root. Slipway itself logs in as root, by key.'
      : 'Everyone tries root. You log in as yourself and use sudo, which was proven to work.',
    path: paths.sshNoRoot,
    user: 'root',
    settings: weAreRoot
      ? [['PermitRootLogin prohibit-password', yes('prohibit-password', 'without-password')]]
      : [['PermitRootLogin no', yes('no')]],
  });
  if (plan && !weAreRoot && state.rootKeys > 0)
    note('ssh_no_root', `root has ${state.rootKeys} keys; they will not let anyone in any more.`);
  return plan;
};

export const sshNoPasswords: StepMaker = (planning) => {
  const { state, request, note } = planning;
  const plan = sshStep(planning, {
    id: 'ssh_no_passwords',
    title: 'No logins by password',
    why: 'Passwords are guessed all day long; keys are not. A login by key was proven first.',
    path: paths.sshNoPasswords,
    user: request.username,
    settings: [
      ['PubkeyAuthentication yes', yes('yes')],
      ['PasswordAuthentication no', yes('no')],
      ['KbdInteractiveAuthentication no', yes('no')],
    ],
  });
  const stranded = state.passwordOnly.filter((name) => name !== request.username);
  if (plan && stranded.length > 0)
    note('ssh_no_passwords', `Without a key, and so without a login afterwards: ${stranded.join(', ')}.`);
  return plan;
};

const notice = `This system is private. Access without authorization is forbidden and is recorded.\n`;

export const banner: StepMaker = (planning) => {
  const { state, request } = planning;
  const issue = fileChange(state, paths.issue, notice);
  const ssh = sshStep(planning, {
    id: 'banner',
    title: 'Show a notice on the console, and no version over SSH',
    why: 'The exact version tells an attacker what to try. Over SSH no notice is shown: it would disturb programs.',
    path: paths.sshBanner,
    user: request.username,
    settings: [['DebianBanner no', yes('no')]],
  });
  if (ssh) return isUnchanged([issue]) ? ssh : { ...ssh, files: [...ssh.files, issue] };
  if (isUnchanged([issue])) return undefined;
  return step({
    id: 'banner',
    title: 'Show a notice on the console',
    why: 'Some jurisdictions require it.',
    files: [issue],
  });
};

export function sshPorts(state: ServerState, sshPort: number): number[] {
  const configured = (state.sshd.get('port') ?? []).map(Number);
  return [...new Set([sshPort, ...configured, ...state.sshListenPorts])].sort((a, b) => a - b);
}
