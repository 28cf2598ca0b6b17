/** What a plan is computed from: the server's own state, read in one round trip that changes nothing. */
import type { Remote } from '../../../remote/remote.ts';
import { paths } from './paths.ts';
import type { SshdExpectation } from './plan.ts';
import { type PlanRequest, plainAddress } from './plan-request.ts';
import { parseNamedSections } from './sections.ts';

export interface SysctlState {
  readonly value: string;
  readonly isWritable: boolean;
}

export interface ServerState {
  /** `debian 13`. */
  readonly system: string;
  /** Lines of `sshd -T` for our user, and for root. */
  readonly sshd: ReadonlyMap<string, readonly string[]>;
  readonly sshdForRoot: ReadonlyMap<string, readonly string[]>;
  readonly hasDropIns: boolean;
  /** Fingerprint and type (`ED25519`) of each host key. */
  readonly hostKeys: ReadonlyMap<string, string>;
  readonly sshListenPorts: readonly number[];
  /** Allowed things as `22/tcp`, `21000:21999/tcp`, and `22/tcp from 192.0.2.1`, where ufw is active. A limit allows, too. */
  readonly ufw: ReadonlySet<string> | undefined;
  readonly isFirewalldActive: boolean;
  readonly tables: ReadonlySet<string>;
  readonly units: ReadonlyMap<string, { readonly enabled: string; readonly active: string }>;
  readonly packages: ReadonlySet<string>;
  readonly listsAgeSeconds: number;
  readonly securityUpdates: readonly string[];
  readonly ignoredByFail2ban: readonly string[];
  readonly sysctl: ReadonlyMap<string, SysctlState>;
  readonly emptyPasswords: readonly string[];
  /** Who has a password and a shell, but no key. */
  readonly passwordOnly: readonly string[];
  readonly rootKeys: number;
  readonly modes: ReadonlyMap<string, string>;
  /** Open to the outside, `tcp 8080`. */
  readonly listeners: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

const units = [
  ...[
    'ssh.service',
    'ssh.socket',
    'slipway-firewall.service',
    'slipway-docker-ports.service',
    'fail2ban.service',
  ],
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'firewalld.service'],
];

const script = String.raw`
user=$1 addr=$2 files=$3 keys=$4 units=$5 modes=$6
export LC_ALL=C
section() { printf '#=%s\n' "$1"; }
section os; . /etc/os-release; echo "$ID $VERSION_ID"
mkdir -p /run/sshd
section sshd; sshd -T -C "user=$user,host=$addr,addr=$addr" || true
section sshd-root; sshd -T -C "user=root,host=$addr,addr=$addr" || true
section drop-ins; grep -iE '^[[:space:]]*Include[[:space:]].*sshd_config\.d/\*\.conf' /etc/ssh/sshd_config || true
section host-keys; for f in /etc/ssh/ssh_host_*_key.pub; do ssh-keygen -lf "$f" 2>/dev/null || true; done
section ssh-sockets; ss -Hltnp 2>/dev/null | grep '"sshd"' | awk '{print $4}' || true
if systemctl is-active --quiet ssh.socket; then
  systemctl show --property=Listen ssh.socket | sed -n 's/^Listen=\(.*\) (Stream)$/\1/p'; fi
section ufw; if command -v ufw >/dev/null; then ufw status 2>/dev/null || true; fi
section tables; if command -v nft >/dev/null; then nft list tables 2>/dev/null || true; fi
section units; for u in $units; do
  printf '%s %s %s\n' "$u" "$(systemctl is-enabled "$u" 2>/dev/null || true)" "$(systemctl is-active "$u" || true)"; done
section packages; dpkg-query -W -f '\${db:Status-Abbrev}\${Package}\n' | sed -n 's/^[ih]i *//p'
section lists-age
newest=0; for f in /var/lib/slipway/apt-refreshed /var/lib/apt/lists/partial /var/lib/apt/periodic/update-success-stamp; do
  if [ -e "$f" ]; then t=$(stat -c %Y "$f"); if [ "$t" -gt "$newest" ]; then newest=$t; fi; fi; done
if ! ls /var/lib/apt/lists/*Release >/dev/null 2>&1; then newest=0; fi
echo $(( $(date +%s) - newest ))
section security; apt-get -s -q --with-new-pkgs upgrade 2>/dev/null | grep -iE '^Inst .*security' | awk '{print $2}' || true
section ignored; if command -v fail2ban-client >/dev/null; then fail2ban-client get sshd ignoreip 2>/dev/null || true; fi
section sysctl; for k in $keys; do f=/proc/sys/$(printf %s "$k" | tr . /)
  if [ -e "$f" ]; then w=ro; if [ -w "$f" ]; then w=rw; fi; printf '%s %s %s\n' "$k" "$w" "$(tr '\t' ' ' < "$f")"; fi; done
section empty; awk -F: '$2 == "" {print $1}' /etc/shadow
section people; getent passwd | while IFS=: read -r name _ _ _ _ home shell; do
  case "$shell" in */nologin|*/false|*/sync|'') continue;; esac
  case "$(getent shadow "$name" | cut -d: -f2)" in '$'*) ;; *) continue;; esac
  if [ ! -s "$home/.ssh/authorized_keys" ]; then echo "$name"; fi; done
section root-keys; grep -cE '^[^#[:space:]]' /root/.ssh/authorized_keys 2>/dev/null || true
section modes; for f in $modes; do stat -c '%a %n' "$f" 2>/dev/null || true; done
section listeners; ss -Hltun 2>/dev/null | awk '{print $1, $5}' || true
section files; for f in $files; do if [ -f "$f" ]; then printf '%s %s\n' "$f" "$(base64 -w0 < "$f")"; fi; done
`.replaceAll('\\$', '$');

/** With the values of these kernel settings, and the modes of these files. */
export async function readServerState(
  remote: Remote,
  { username, ourAddress }: PlanRequest,
  { sysctl, modes }: { readonly sysctl: readonly string[]; readonly modes: readonly string[] },
): Promise<ServerState> {
  const lists = [Object.values(paths), sysctl, units, modes].map((list) => list.join(' '));
  const printed = await remote.script(script, [username, plainAddress(ourAddress), ...lists]);
  return parse(parseNamedSections(printed.toString('utf8')));
}

function parse(section: (name: string) => string[]): ServerState {
  const pairs = (name: string) =>
    section(name).map((line): [string, string] => {
      const space = line.indexOf(' ');
      return space === -1 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
    });
  const ports = section('ssh-sockets').map((line) => Number(line.slice(line.lastIndexOf(':') + 1)));
  const unitStates = pairs('units').map(([unit, rest]) => {
    const [enabled = '', active = ''] = rest.split(' ');
    return [unit, { enabled, active }] as const;
  });
  const sysctl = pairs('sysctl').map(([key, rest]) => {
    return [key, { isWritable: rest.startsWith('rw'), value: rest.slice(3).trim() }] as const;
  });
  const hostKeys = section('host-keys').map((line) => {
    const [, fingerprint = '', ...rest] = line.split(' ');
    return [fingerprint, (rest.at(-1) ?? '').replaceAll(/[()]/g, '')] as const;
  });
  const files = pairs('files').map(
    ([path, text]) => [path, Buffer.from(text, 'base64').toString('utf8')] as const,
  );
  const stateOfUnits = new Map(unitStates);
  return {
    system: section('os').join(' '),
    sshd: sshdValues(section('sshd')),
    sshdForRoot: sshdValues(section('sshd-root')),
    hasDropIns: section('drop-ins').length > 0,
    hostKeys: new Map(hostKeys),
    sshListenPorts: ports.filter((port) => port > 0),
    ufw: ufwAllows(section('ufw')),
    isFirewalldActive: stateOfUnits.get('firewalld.service')?.active === 'active',
    tables: new Set(section('tables').map((line) => line.replace(/^table /, ''))),
    units: stateOfUnits,
    packages: new Set(section('packages').map((line) => line.trim().replace(/:.*/, ''))),
    listsAgeSeconds: Number(section('lists-age')[0] ?? Number.POSITIVE_INFINITY),
    securityUpdates: section('security'),
    ignoredByFail2ban: section('ignored').flatMap((line) => /^[|`]- (\S+)/.exec(line)?.[1] ?? []),
    sysctl: new Map(sysctl),
    emptyPasswords: section('empty'),
    passwordOnly: section('people'),
    rootKeys: Number(section('root-keys')[0] ?? 0),
    modes: new Map(pairs('modes').map(([mode, path]) => [path, mode.padStart(4, '0')])),
    listeners: [...new Set(section('listeners').flatMap(outsideListener))],
    files: new Map(files),
  };
}

export function sshdValues(lines: readonly string[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const line of lines) {
    const space = line.indexOf(' ');
    if (space === -1) continue;
    const key = line.slice(0, space).toLowerCase();
    values.set(key, [...(values.get(key) ?? []), line.slice(space + 1)]);
  }
  return values;
}

/** Whether what sshd reports is as expected. */
export function meetsExpectation(
  expected: SshdExpectation,
  values: ReadonlyMap<string, readonly string[]>,
): boolean {
  const [value] = values.get(expected.key) ?? [];
  if (value === undefined) return false;
  const { oneOf, atMost, atLeast, without, includes } = expected;
  const items = value.split(',');
  if (oneOf && !oneOf.includes(value)) return false;
  if (atMost !== undefined && !(Number(value) <= atMost)) return false;
  if (atLeast !== undefined && !(Number(value) >= atLeast)) return false;
  if (without?.some((start) => items.some((item) => item.startsWith(start)))) return false;
  return includes === undefined || items.includes(includes);
}

function ufwAllows(lines: readonly string[]): Set<string> | undefined {
  if (!lines.some((line) => line.trim() === 'Status: active')) return undefined;
  return new Set(
    lines.flatMap((line) => {
      const [, port, verb, from] =
        /^(\d+(?::\d+)?(?:\/\w+)?)\s+(ALLOW|LIMIT)(?: IN)?\s+(\S+)\s*$/.exec(line) ?? [];
      if (port === undefined) return [];
      if (from === 'Anywhere') return [port];
      return verb === 'ALLOW' ? [`${port} from ${from}`] : [];
    }),
  );
}

function outsideListener(line: string): string[] {
  const [protocol = '', local = ''] = line.split(' ');
  const colon = local.lastIndexOf(':');
  const address = local.slice(0, colon).replaceAll(/[[\]]/g, '').replace(/%.*/, '');
  if (address.startsWith('127.') || address === '::1') return [];
  return [`${protocol} ${local.slice(colon + 1)}`];
}
