/**
 * The scripts behind detached work. Constant texts: what differs comes as arguments or by standard input.
 *
 * A unit's folder holds: `command` (what to run), `wrapper` (what runs it), `input` until it has been opened, `running`,
 * which the wrapper holds a lock on, `began` once the unit has begun, `output`, which is bounded, and `code` once it has
 * ended. Who waits for the end waits for the lock: the kernel gives it free in the moment the wrapper is gone. All that decides whether to start
 * a unit happens under one lock, which the kernel takes back from whoever dies with it. Neither half a start nor two at
 * once can run it twice: without `began` and without a live unit it never ran; with `began` it is never started again.
 */
import { boundedRun } from './bounded-output.ts';

export const unitRoot = '/var/lib/slipway';

export const exits = { fenced: 77, stillRunning: 78 } as const;

const locked = `
umask 077
root=${unitRoot}
if [ ! -d "$root/units" ] || [ ! -d "$root/fences" ]; then mkdir -p "$root/units" "$root/fences"; fi
exec 9>>"$root/lock"
flock 9
`;

/** `$1` is the scope, or empty; `$2` the epoch. Compared and set under the lock that is already held. */
const fenced = `
if [ -n "$1" ]; then
  seen=0
  if [ -e "$root/fences/$1" ]; then read -r seen <"$root/fences/$1"; fi
  if [ "$seen" -gt "$2" ]; then
    echo "the server has seen epoch $seen, this is $2" >&2
    exit ${exits.fenced}
  fi
  if [ "$seen" -lt "$2" ]; then
    echo "$2" >"$root/fences/.new"
    sync "$root/fences/.new"
    mv -fT "$root/fences/.new" "$root/fences/$1"
    sync "$root/fences"
  fi
fi
`;

export const fenceScript = `${locked}${fenced}`;

const isLive = `
is_live() {
  case $(systemctl show --property=ActiveState --value "$1.service" 9>&-) in
    inactive|failed) return 1 ;;
    *) return 0 ;;
  esac
}
`;

/**
 * The unit's first process. The input is opened and its name removed, so that nothing of it stays on the disk when the
 * unit ends, however it ends. The exit code is written atomically.
 */
const wrapper = `dir=$1
umask 077
exec 7>"$dir/running"
flock 7
cat /proc/sys/kernel/random/boot_id >"$dir/began"
if [ -e "$dir/input" ]; then
  exec <"$dir/input"
  rm -f "$dir/input"
else
  exec </dev/null
fi
umask 022
code=0
perl -e '${boundedRun}' "$dir" 7>&- || code=$?
echo "$code" >"$dir/code.new"
mv -fT "$dir/code.new" "$dir/code"
`;

/**
 * `$1` scope, `$2` epoch, `$3` name, `$4` the size of the command's text, `$5` the size of the unit's input, or empty,
 * `$6` how many MB of memory all of it may take, or empty.
 * Command and input come by standard input, one after the other: sudo would write arguments down. They are gathered in a folder
 * beside its place, so that what is found there under the unit's name is whole. A start that was killed leaves such a
 * folder with the input in it; the next start after an hour removes it.
 * OOMPolicy: where the kernel kills the command for its memory, the wrapper lives on and says so.
 */
const startUnitScript = `
umask 077
mkdir -p ${unitRoot}/units
# One of somebody else may go between its name and the look at it: what is left now goes the next time.
find ${unitRoot}/units -mindepth 1 -maxdepth 1 -name '.start-*' -mmin +60 -exec rm -rf {} + 2> /dev/null || true
incoming=$(mktemp -d ${unitRoot}/units/.start-XXXXXXXX)
trap 'rm -rf "$incoming"' EXIT
trap 'exit 1' HUP INT TERM PIPE
must_have() {
  if [ "$(stat -c %s "$incoming/$1")" = "$2" ]; then return 0; fi
  echo "the $1 did not arrive whole" >&2
  exit 1
}
dd bs="$4" count=1 iflag=fullblock status=none >"$incoming/command"
must_have command "$4"
if [ -n "$5" ]; then
  cat >"$incoming/input"
  must_have input "$5"
fi
: >"$incoming/output"
cat >"$incoming/wrapper" <<'END'
${wrapper}END
${isLive}${locked}${fenced}
dir=$root/units/$3
# In this order: one that is not live any more has left its mark before.
if is_live "$3" || [ -e "$dir/began" ]; then exit 0; fi
rm -rf "$dir"
mv -T "$incoming" "$dir"
systemctl reset-failed "$3.service" 2>/dev/null 9>&- || :
systemd-run --quiet --collect --unit="$3.service" --setenv=HOME=/root --setenv=LANG=C.UTF-8 \\
  --property=OOMPolicy=continue --property=TimeoutStopSec=10 --property=KillMode=control-group \\
  \${6:+"--property=MemoryMax=$6M"} \\
  -- /bin/sh "$dir/wrapper" "$dir" 9>&- >&2
`;

/**
 * `$1` name, `$2` from which byte, `$3` how many tenths of a second to wait for more, `$4` how many bytes at most, `$5`
 * after how many tenths (below ten) to look whether something has come: a round trip a line would cost more than the
 * line. The end is noticed at once. First a line with state, code and size, then the bytes. The state is read before
 * the size: what has ended prints no more.
 *
 * Where nobody holds the lock, and there is no code, the unit is about to begin, or was cut off, or its wrapper is one of
 * an earlier version: that is looked at again after a moment.
 */
export const readUnitScript = `${isLive}
dir=${unitRoot}/units/$1
size() { stat -c %s "$dir/output" 2>/dev/null || echo 0; }
if [ ! -d "$dir" ]; then
  if is_live "$1"; then echo 'running 0 0'; else echo 'absent 0 0'; fi
  exit 0
fi
state() {
  if [ -e "$dir/code" ]; then echo "ended $(cat "$dir/code")"
  elif is_live "$1"; then echo 'running 0'
  elif [ -e "$dir/code" ]; then echo "ended $(cat "$dir/code")"
  elif [ -e "$dir/began" ]; then echo 'lost 0'
  else echo 'absent 0'
  fi
}
now=$(state "$1")
left=$3
while [ "$now" = 'running 0' ] && [ "$left" -gt 0 ] && [ ! -e "$dir/code" ]; do
  if [ -e "$dir/began" ] && [ -e "$dir/running" ] && ! flock --shared --wait "0.$5" "$dir/running" true; then
    left=$((left - $5))
    if [ "$(size)" -gt "$2" ]; then break; fi
  elif [ ! -e "$dir/code" ]; then
    if [ -e "$dir/began" ]; then now=$(state "$1"); fi
    sleep 0.02
    left=$((left - 1))
  fi
done
if [ "$now" = 'running 0' ]; then now=$(state "$1"); fi
echo "$now $(size)"
if [ -e "$dir/output" ]; then tail -c "+$(($2 + 1))" "$dir/output" | head -c "$4"; fi
`;

/** The arguments of the start, then those of the read: what ends soon is started, followed and told in one round trip. */
export const startAndReadScript = `(${startUnitScript})
shift 6
${readUnitScript}`;

/** `$1` scope, `$2` epoch, `$3` name. SIGTERM first, then SIGKILL; its folder is removed only once nothing of it runs. */
export const stopUnitScript = `${isLive}${locked}${fenced}
shift 2
if is_live "$1"; then
  systemctl stop "$1.service" 9>&- || :
fi
tries=50
while is_live "$1"; do
  systemctl kill --signal=KILL "$1.service" 9>&- 2>/dev/null || :
  tries=$((tries - 1))
  if [ "$tries" = 0 ]; then
    systemctl status --no-pager "$1.service" >&2 9>&- || :
    exit ${exits.stillRunning}
  fi
  sleep 0.1
done
systemctl reset-failed "$1.service" 2>/dev/null 9>&- || :
rm -rf "$root/units/$1"
`;
