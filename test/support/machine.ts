/** What the whole machine looks like, apart from the lab that the tests share: to see what something has left. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { run } from '../../lab/command.ts';

export interface MachineState {
  readonly links: string[];
  readonly addresses: string[];
  readonly routes: string[];
  readonly mounts: string[];
  readonly firewall: string[];
  readonly controlGroups: string[];
  /** Of the network; builds of other labs make namespaces of other kinds at any time. */
  readonly namespaces: string[];
  /** Of programs that a lab starts. */
  readonly processes: string[];
}

const labPrograms = /^(systemd|dockerd|containerd|slirp4netns|nsenter|pebble|docker-registry|sshd)/;

export async function machineState(sharedLab: string): Promise<MachineState> {
  const shared = `slipway-lab-${sharedLab}`;
  const lines = async (program: string, ...args: string[]) =>
    (await run(program, args)).trim().split('\n').sort();
  const processes = allProcesses();
  const own = processes.filter(
    ({ groups, command }) => !groups.includes(shared) && !command.includes(sharedLab),
  );
  const namespaces = new Set(own.flatMap(({ namespaces: each }) => each));
  return {
    links: await lines('ip', '-oneline', 'link'),
    addresses: await lines('ip', '-brief', 'address'),
    routes: await lines('ip', 'route', 'show', 'table', 'all'),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n').sort(),
    // Counters move; rules do not.
    firewall: (await lines('iptables-save')).filter((line) => !line.startsWith('#')),
    controlGroups: ['.', ...foldersIn('/sys/fs/cgroup')]
      .flatMap((hierarchy) => foldersIn(`/sys/fs/cgroup/${hierarchy}`).map((name) => `${hierarchy}/${name}`))
      .filter((path) => path.includes('/slipway-lab-'))
      .sort(),
    namespaces: [...namespaces].sort(),
    processes: own
      .filter(({ name }) => labPrograms.test(name))
      .map(({ pid, name }) => `${pid} ${name}`)
      .sort(),
  };
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

interface Seen {
  readonly pid: string;
  readonly name: string;
  readonly command: string;
  readonly groups: string;
  readonly namespaces: string[];
}

function allProcesses(): Seen[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
        if (/^[ZX]/.test(stat)) return []; // it has ended, and nobody has asked how yet
        return [
          {
            pid,
            name: readFileSync(`/proc/${pid}/comm`, 'utf8').trim(),
            command: readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
            groups: readFileSync(`/proc/${pid}/cgroup`, 'utf8'),
            namespaces: [readlinkSync(`/proc/${pid}/ns/net`)],
          },
        ];
      } catch {
        return []; // it has ended meanwhile
      }
    });
}
