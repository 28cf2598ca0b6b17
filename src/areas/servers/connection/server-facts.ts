/** What a server is: read in one round trip, and checked for whether Slipway can work on it. */
import { hasNetworkRules } from '../../../engine/single-server/single-server.ts';
import { Fault } from '../../../fault.ts';
import { runOver } from '../../../remote/exec/run-over.ts';
import { sendScript } from '../../../remote/exec/script.ts';
import type { Remote } from '../../../remote/remote.ts';
import type { Connection } from '../../../remote/ssh/connection.ts';
import type { ServerFacts } from '../servers.ts';

/** Prints `name=value` lines; whatever is missing is left empty. Changes nothing. */
const script = `
field() { printf '%s=%s\\n' "$1" "$(printf '%s' "$2" | tr '\\n' ' ')"; }
. /etc/os-release
field os "\${PRETTY_NAME:-}"
field id "\${ID:-}"
field version "\${VERSION_ID:-}"
field arch "$(uname -m)"
field kernel "$(uname -r)"
field cpus "$(getconf _NPROCESSORS_ONLN)"
field memory "$(sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)"
# Images and containers may be on a disk of their own; whichever has less room counts.
for path in /var/lib/docker /; do
  [ -d "$path" ] || continue
  set -- $(df --portability "$path" | sed -n 2p)
  [ -n "\${free:-}" ] && [ "$free" -le "$4" ] || { free=$4 total=$2; }
done
field disk "$free"
field diskTotal "$total"
field clock "$(date +%s%3N)"
field uid "$(id -u)"
field systemd "$([ -d /run/systemd/system ] && echo yes || true)"
if command -v docker > /dev/null; then
  field docker "$(docker version --format '{{.Server.Version}}' 2>&1 || true)"
  if ${hasNetworkRules}; then field rules loaded; fi
fi
`;

export interface ProbedServer {
  readonly facts: ServerFacts;
  readonly system: { readonly id: string; readonly version: string; readonly hasSystemd: boolean };
  readonly diskUsedFraction: number;
  /** Its clock less ours, with half of the round trip taken off. */
  readonly clockOffsetMs: number;
  /** What `docker version` printed where that is no version. */
  readonly dockerProblem: string | null;
  /** Whether what containers may not reach is refused, by the rules of today. */
  readonly hasNetworkRules: boolean;
}

export async function readFacts(remote: Remote, signal?: AbortSignal): Promise<ProbedServer> {
  const sentMs = Date.now();
  const printed = await remote.script(script, [], { timeoutMs: 20_000, ...(signal && { signal }) });
  return parseFacts(printed.toString(), sentMs, Date.now());
}

/** For a server that is not saved. Without sudo, a user other than root may not see Docker. */
export async function readFactsOver(
  connection: Connection,
  viaSudo: boolean,
  signal?: AbortSignal,
): Promise<ProbedServer> {
  const sentMs = Date.now();
  const { argv, preamble: input } = sendScript(script, []);
  const asRoot = [...(viaSudo ? ['sudo', '-n', '--'] : []), ...argv];
  const { code, stdout, stderr } = await runOver(connection, asRoot, { input, ...(signal && { signal }) });
  if (code === 0) return parseFacts(stdout.toString(), sentMs, Date.now());
  throw new Fault('system_unsupported', 'The server does not respond as a Linux with systemd does.', {
    hint: 'Debian 12 and 13 and Ubuntu 22.04, 24.04 and 26.04 are supported.',
    evidence: stderr.toString('utf8').trim().slice(-300),
  });
}

function parseFacts(text: string, sentMs: number, receivedMs: number): ProbedServer {
  const fields = new Map(
    text.split('\n').flatMap((line): [string, string][] => {
      const at = line.indexOf('=');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()]] : [];
    }),
  );
  const of = (name: string) => fields.get(name) ?? '';
  const docker = of('docker');
  const isVersion = /^\d+\.\d+/.test(docker);
  const [free, total] = [Number(of('disk')), Number(of('diskTotal'))];
  return {
    facts: {
      os: of('os'),
      arch: of('arch'),
      cpus: Number(of('cpus')) || 0,
      memoryMb: Math.round(Number(of('memory')) / 1024),
      diskFreeMb: Math.round(free / 1024),
      dockerVersion: isVersion ? docker : null,
      kernel: of('kernel'),
    },
    system: { id: of('id'), version: of('version'), hasSystemd: of('systemd') === 'yes' },
    diskUsedFraction: total > 0 ? 1 - free / total : 0,
    clockOffsetMs: Number(of('clock')) - (sentMs + receivedMs) / 2,
    dockerProblem: isVersion || docker === '' ? null : docker,
    hasNetworkRules: of('rules') === 'loaded',
  };
}

const supported: Readonly<Record<string, readonly string[]>> = {
  debian: ['12', '13'],
  ubuntu: ['22.04', '24.04', '26.04'],
};

export function requireSupported({ facts, system }: ProbedServer): void {
  const known = supported[system.id]?.includes(system.version) ?? false;
  if (known && system.hasSystemd) return;
  const why = known ? 'it does not run systemd' : `it is ${facts.os || 'unknown'}`;
  throw new Fault('system_unsupported', `Slipway cannot work on this server: ${why}.`, {
    hint: 'Debian 12 and 13 and Ubuntu 22.04, 24.04 and 26.04 are supported.',
    evidence: `${system.id} ${system.version}`,
  });
}

const oldestDocker = [20, 10] as const;

export function requireDocker({ facts, dockerProblem }: ProbedServer): void {
  if (facts.dockerVersion === null) {
    throw new Fault('docker_missing', 'Docker is not installed, or does not respond.', {
      hint: 'Slipway installs it when the server is provisioned.',
      ...(dockerProblem && { evidence: dockerProblem }),
    });
  }
  const [major = 0, minor = 0] = facts.dockerVersion.split('.').map(Number);
  if (major > oldestDocker[0] || (major === oldestDocker[0] && minor >= oldestDocker[1])) return;
  throw new Fault(
    'docker_too_old',
    `Docker ${facts.dockerVersion} is too old; 20.10 is the oldest that works.`,
    {
      hint: 'Upgrade Docker on the server.',
      evidence: facts.dockerVersion,
    },
  );
}

const minFreeMb = 1024;
const maxUsedFraction = 0.95;

export function requireResources({ facts, diskUsedFraction }: ProbedServer): void {
  if (facts.diskFreeMb >= minFreeMb && diskUsedFraction < maxUsedFraction) return;
  throw new Fault('disk_full', `The disk of the server is nearly full: ${facts.diskFreeMb} MB are free.`, {
    hint: 'Free some space; `docker system df` shows what Docker uses.',
    evidence: `${Math.round(diskUsedFraction * 100)} % used`,
  });
}

const maxClockOffsetMs = 60_000;

export function requireClock({ clockOffsetMs }: ProbedServer): void {
  if (Math.abs(clockOffsetMs) <= maxClockOffsetMs) return;
  const seconds = Math.round(clockOffsetMs / 1000);
  throw new Fault(
    'clock_wrong',
    `The clock of the server is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}.`,
    {
      hint: 'Certificates and logs need the right time: `timedatectl set-ntp true`.',
      evidence: `${seconds} s`,
    },
  );
}
