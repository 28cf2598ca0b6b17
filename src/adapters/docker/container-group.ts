/**
 * The control group that all containers of ours are in, beside the system and not among it: together they take no more
 * than it may, whatever the limit of each.
 */
import type { FirstScript, Remote } from '../../remote/remote.ts';

export interface GroupLimits {
  readonly memoryMb: number;
  readonly cpus: number;
}

/** What Docker has to be told as `CgroupParent`. Where nothing has changed, nothing is done. */
export async function ensureContainerGroup(
  remote: Remote,
  limits: GroupLimits,
  signal: AbortSignal,
): Promise<string> {
  return (await remote.script(script, argumentsOf(limits), { signal })).toString().trim();
}

/** Docker has to be told something else than was known. */
export class GroupChanged extends Error {}

const changed = 79;

/** The same ahead of calls that were made with what was known: fails with `GroupChanged` where that is so no more. */
export function containerGroupFirst(limits: GroupLimits, known: string): FirstScript {
  const text = `known=$3\nseen=$(${script})\nif [ "$seen" != "$known" ]; then exit ${changed}; fi`;
  const args = [...argumentsOf(limits), known];
  return { text, args, failure: ({ code }) => (code === changed ? new GroupChanged() : undefined) };
}

function argumentsOf({ memoryMb, cpus }: GroupLimits): string[] {
  return [String(memoryMb * 1024 * 1024), String(Math.round(cpus * 100))];
}

/**
 * `$1` bytes of memory, `$2` processor time in percent.
 *
 * Under version 2 of control groups systemd keeps the limits, also over a reboot, when Docker starts its containers
 * before we know of it. Under version 1 they are written, and last until then. A limit that the kernel refuses, because
 * more is in use at this moment, is set by whoever comes next. Threads of all containers together leave a quarter of
 * what the kernel has to others.
 *
 * Docker wants the name of a slice where it lets systemd make the groups, and a path where it makes them itself. Asking
 * it takes longer than all the rest, and it can only have changed with another process of Docker: so it is kept for
 * this one. Most files are read by the shell itself: each program that is
 * started takes as long as the rest. It reads byte by byte, which those below /proc/sys do not answer.
 */
const script = `
bytes=$1 percent=$2 root=/sys/fs/cgroup group=slipway.slice
tasks=$(($(cat /proc/sys/kernel/threads-max) / 4 * 3))
put() { if [ -e "$2" ]; then echo "$1" 2>/dev/null >"$2" || :; fi; }
if [ -e "$root/cgroup.controllers" ]; then
  limits=
  for each in memory.max cpu.max pids.max; do
    line=
    if [ -e "$root/$group/$each" ]; then read -r line <"$root/$group/$each"; fi
    limits="$limits$line "
  done
  if [ "$limits" != "$bytes $((percent * 1000)) 100000 $tasks " ]; then
    systemctl set-property "$group" "MemoryMax=$bytes" MemorySwapMax=0 "CPUQuota=$percent%" "TasksMax=$tasks"
    systemctl start "$group"
  fi
else
  for each in memory cpu pids; do if [ -d "$root/$each" ]; then mkdir -p "$root/$each/$group"; fi; done
  put "$bytes" "$root/memory/$group/memory.limit_in_bytes"
  put 100000 "$root/cpu/$group/cpu.cfs_period_us"
  put "$((percent * 1000))" "$root/cpu/$group/cpu.cfs_quota_us"
  put "$tasks" "$root/pids/$group/pids.max"
fi
process=none begun=none
if [ -e /run/docker.pid ]; then read -r process </run/docker.pid || :; fi
if read -r line 2>/dev/null <"/proc/$process/stat"; then set -- $line; begun=\${22}; fi
process=$process-$begun
read -r asked driver 2>/dev/null </run/slipway-cgroup-driver || asked=
if [ "$asked" != "$process" ] || [ "$process" = none-none ]; then
  driver=$(docker info --format '{{.CgroupDriver}}')
  (umask 077; echo "$process $driver" >/run/.slipway-cgroup-driver.$$; mv -fT /run/.slipway-cgroup-driver.$$ /run/slipway-cgroup-driver)
fi
if [ "$driver" = systemd ]; then echo "$group"; else echo "/$group"; fi
`;
