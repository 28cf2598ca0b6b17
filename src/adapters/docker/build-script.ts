/**
 * The program of a build's unit. A constant text: what differs comes as arguments.
 *
 * What the steps of a build may take is capped by a control group of ours, one for all builds of the server. One for
 * each would spoil the cache: BuildKit counts the name of the group to what a step is made of. Measured: Docker 26 puts
 * the steps below `--cgroup-parent`, under either driver, as long as it is a path and not the name of a slice. Docker
 * 20.10 takes the option and ignores it: its steps are below `docker/buildkit`, and under the systemd driver each in a
 * group of its own, which is found and capped while it runs.
 */
import { askingScript, builtRepositories } from './build-asks.ts';
import { guardScript } from './build-network.ts';
import { contextNameScript } from './send-context.ts';

const buildGroup = 'slipwaybuild.slice';

/** Ahead of the last line of the unit; BuildKit's own lines never begin like this. */
export const endMark = 'slipway-build-ended';
export const refusalMark = 'slipway-build-refused';

const places = `root=/sys/fs/cgroup
is_second() { [ -e "$root/cgroup.controllers" ]; }
if is_second; then above=$root; else above=$root/memory; fi
old_groups() {
  for each in "$above"/docker/buildkit "$above"/system.slice:docker:* "$above"/system.slice/system.slice:docker:* \\
    "$above"/system.slice/docker.service/system.slice:docker:*; do
    if [ -d "$each" ]; then echo "\${each#"$above"/}"; fi
  done
}
end_orphans() {
  for each in ${buildGroup} $(old_groups); do
    if [ ! -d "$above/$each" ]; then continue; fi
    for pid in $(find "$above/$each" -name cgroup.procs -exec cat {} + 2>/dev/null); do
      if grep -q '^PPid:.1$' "/proc/$pid/status" 2>/dev/null; then kill -KILL "$pid" 2>/dev/null || :; fi
    done
  done
}
`;

/**
 * When the daemon ends, by a restart or a crash, what a step runs goes on without it, and nobody ends it any more.
 * Measured with both versions. Such a one is known by its parent: that of a live step is `runc`, that of an orphan is
 * process 1. Waits until Docker answers again, or for half a minute: until then it may still be about to die.
 */
export const orphansScript = `${places}
tries=30
while ! timeout 5 docker version >/dev/null 2>&1 && [ "$tries" -gt 0 ]; do
  tries=$((tries - 1))
  sleep 1
done
end_orphans
`;

/**
 * A frontend of the repository's choice could leave the namespace of our cache mounts and the salt of our steps out, so
 * only Docker's own are run, from the version on that knows them. Which one a Dockerfile asks for is read as BuildKit
 * does: from the leading lines of the form `# key=value` or `// key=value`, behind a byte order mark and a line `#!`, or
 * from a document in JSON, which no Dockerfile is.
 */
const names = `
frontends() {
  awk '
    NR == 1 { sub(/^\\357\\273\\277/, ""); if (/^#!/) next }
    !seen && !/^[ \\t\\r\\f\\v]*$/ { seen = 1; if (/^[ \\t\\r\\f\\v]*[{]/) { print "json"; exit } }
    !/^(#|\\/\\/)[ \\t\\r\\f\\v]*[A-Za-z][A-Za-z0-9]*[ \\t\\r\\f\\v]*=/ { if (seen) exit; next }
    tolower($0) ~ /^(#|\\/\\/)[ \\t\\r\\f\\v]*syntax[ \\t\\r\\f\\v]*=/ {
      sub(/^[^=]*=[ \\t\\r\\f\\v]*/, ""); sub(/[ \\t\\r\\f\\v].*/, ""); print
    }' "$1"
}
is_official() {
  case \${1#docker.io/} in
    docker/dockerfile:1.0*|docker/dockerfile:1.1.[01]*) return 1 ;;
    ''|docker/dockerfile|docker/dockerfile:*|docker/dockerfile@*) return 0 ;;
    *) return 1 ;;
  esac
}
find_image() {
  docker image ls --no-trunc --filter "label=$owner" --format '{{.Tag}} {{.ID}}' |
    awk -v tag="$tag" '$1 == tag { print $2; exit }'
}
random_repository() { echo "${builtRepositories}/$(tr -d - </proc/sys/kernel/random/uuid)"; }
rename_old() {
  docker image ls --filter label=slipway=image --format '{{.Repository}} {{.Tag}}' | while read -r name old; do
    case $name in
      slipway/*)
        # One that is gone meanwhile was removed with its environment, or renamed by another build.
        if docker image tag "$name:$old" "$(random_repository):$old" 2>/dev/null; then
          docker image rm "$name:$old" >/dev/null 2>&1 || :
        fi ;;
    esac
  done
}
`;

/**
 * `$1` processor time in percent, `$2` bytes of memory, `$3` the folder, `$4` a Dockerfile inside the context or empty,
 * `$5` the label of its owner, `$6` its tag, then the options of `docker build`.
 *
 * A build that has succeeded takes its folder away, with the secrets in it. Who runs it again, because its end was not
 * written down, finds the image by owner and tag.
 *
 * The repository of an image is random: a Dockerfile can begin with, copy from or mount any image of the server whose
 * name it knows, so nobody is told one. That is why the build itself is given no name: BuildKit prints it. Images that
 * were named before are renamed ahead of the first build that could ask for them.
 *
 * Under version 2 of control groups the limits are systemd's to set: written by hand, it may take the controller away
 * again. Under version 1 they are written: there systemd may not hold the controllers at all. A limit below what other
 * builds use at this moment is refused by the kernel; then the one that is there holds on. A server that has no such
 * limits at all builds nevertheless, and the output says so.
 */
export const buildScript = `
percent=$1 bytes=$2 folder=$3 dockerfile=$4 owner=$5 tag=$6
shift 6
${contextNameScript}
${places}${askingScript}${guardScript}
${names}
most_processes=4096
# What serves comes first: where the processors are busy, builds get a tenth of what applications get.
weight=10
put() { if [ -e "$2" ]; then echo "$1" 2>/dev/null >"$2" || :; fi; }
cap() {
  if is_second; then
    put "$bytes" "$root/$1/memory.max"
    put 0 "$root/$1/memory.swap.max"
    put "$((percent * 1000)) 100000" "$root/$1/cpu.max"
    put "$weight" "$root/$1/cpu.weight"
    put "$most_processes" "$root/$1/pids.max"
    return
  fi
  memory=$root/memory/$1
  if [ "$(cat "$memory/memory.limit_in_bytes")" != "$bytes" ]; then
    put -1 "$memory/memory.memsw.limit_in_bytes"
    put "$bytes" "$memory/memory.limit_in_bytes"
  fi
  # A little more than without swap: the kernel counts only at the limit that is met first, and tells only of this one.
  put "$((bytes + 1048576))" "$memory/memory.memsw.limit_in_bytes"
  put 100000 "$root/cpu/$1/cpu.cfs_period_us"
  put "$((percent * 1000))" "$root/cpu/$1/cpu.cfs_quota_us"
  put "$((weight * 1024 / 100))" "$root/cpu/$1/cpu.shares"
  put "$most_processes" "$root/pids/$1/pids.max"
}
make_group() {
  if is_second; then
    limits=$(cd "$root/${buildGroup}" 2>/dev/null && cat memory.max memory.swap.max cpu.max cpu.weight pids.max 2>/dev/null | tr '\\n' ' ') || :
    if [ "$limits" = "$bytes 0 $((percent * 1000)) 100000 $weight $most_processes " ]; then return; fi
    systemctl set-property --runtime ${buildGroup} "MemoryMax=$bytes" MemorySwapMax=0 "CPUQuota=$percent%" \\
      "CPUWeight=$weight" "TasksMax=$most_processes"
    systemctl start ${buildGroup}
  else
    for each in memory cpu pids; do mkdir -p "$root/$each/${buildGroup}"; done
    cap ${buildGroup}
  fi
}
is_capped() {
  if is_second; then
    grep -q '^[0-9]' "$root/${buildGroup}/memory.max" && grep -q '^[0-9]' "$root/${buildGroup}/cpu.max"
  else
    [ "$(cat "$root/memory/${buildGroup}/memory.limit_in_bytes")" -lt 9000000000000000000 ] &&
      [ "$(cat "$root/cpu/${buildGroup}/cpu.cfs_quota_us")" -gt 0 ]
  fi
} 2>/dev/null
# Of an old Docker only: it may be that somebody builds with a newer one by hand, and that is not ours to slow down.
cap_old_docker() {
  while :; do
    for each in $(old_groups); do cap "$each"; done
    sleep 0.2
  done
}
# How often the limit was met. Version 2 counts those who were killed; version 1 also what could be helped.
hits() {
  sum=0 one=0
  for each in ${buildGroup} docker/buildkit; do
    if is_second; then one=$(sed -n 's/^oom_kill //p' "$root/$each/memory.events" 2>/dev/null) || one=0
    else one=$(cat "$root/memory/$each/memory.failcnt" 2>/dev/null) || one=0
    fi
    sum=$((sum + \${one:-0}))
  done
  echo "$sum"
}
refuse() {
  echo "${refusalMark} $1"
  exit 1
}
tell_end() {
  about=$(ask_docker end "$owner" "$tag" "$4")
  echo "${endMark} $1 $2 $3 $4 $about"
}
if [ ! -e "$folder" ]; then
  tell_end 0 none 0 "$(find_image)"
  exit 0
fi
place=$folder/Dockerfile
if [ -n "$dockerfile" ]; then
  # A link of the repository must not lead to a file of the server, whose lines would stand in the error.
  place=$(realpath -e -- "$folder/$context/$dockerfile" 2>/dev/null) || refuse missing
  case $place in
    "$(realpath -e -- "$folder")/$context/"*) ;;
    *) refuse outside ;;
  esac
  if [ ! -f "$place" ]; then refuse missing; fi
fi
frontends "$place" | while read -r each; do
  if ! is_official "$each"; then refuse "frontend $each"; fi
done
begun=$(ask_docker begin)
case $begun in *'old yes'*) rename_old ;; esac
make_group || :
if ! is_capped; then echo 'This server cannot limit what a build takes; it may slow down what runs there.'; fi
watcher=
version=$(printf '%s\\n' "$begun" | sed -n 's/^version //p')
if [ "$version" -lt 23 ]; then
  cap_old_docker 2>/dev/null &
  watcher=$!
fi
trap 'if [ -n "$watcher" ]; then kill "$watcher" 2>/dev/null || :; fi; unguard' EXIT
trap 'exit 143' HUP INT TERM
guard || refuse unguarded
end_orphans
rm -f "$folder/image"
before=$(hits)
code=0
docker build "$@" --cgroup-parent "/${buildGroup}" --iidfile "$folder/image" --file "$place" -- "$folder/$context" 8>&- || code=$?
image=-
if [ -s "$folder/image" ]; then image=$(cat "$folder/image"); fi
if is_second; then kind=killed; else kind=met; fi
if [ "$code" = 0 ] && [ "$image" != - ]; then
  tell_end 0 "$kind" "$(($(hits) - before))" "$image"
  rm -rf "$folder"
else
  echo "${endMark} $code $kind $(($(hits) - before)) $image"
fi
exit "$code"
`;
