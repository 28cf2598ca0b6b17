/**
 * The scripts that are on the server and run without us. They are constant; their data is in the folder of a step: `targets` (the files of the step), `new/`, `before/`, `cmd/`, `undo`.
 */
import { stateDir } from './paths.ts';

/** Undoes one step. May be run again after a kill anywhere: every line checks what is there. */
const undoStepScript = String.raw`set -u
dir=$1
tab=$(printf '\t')
failed=0
was_absent() {
  index=$(awk -F '\t' -v path="$1" '$5 == path {print $1}' "$dir/targets")
  [ -n "$index" ] && [ -f "$dir/before/$index.absent" ]
}
while read -r verb unit table; do
  if [ "$verb" = drop_table ] && was_absent "/etc/systemd/system/$unit"; then
    systemctl disable --now "$unit" 2>/dev/null
    nft delete table $table 2>/dev/null
  fi
done < "$dir/undo"
while IFS=$tab read -r index mode shaBefore shaAfter path; do
  aside="$(dirname "$path")/.$(basename "$path").slipway"
  if [ -f "$dir/before/$index.absent" ]; then rm -f "$path" || failed=1
  elif [ -f "$dir/before/$index" ]; then
    cp -a "$dir/before/$index" "$aside" && mv -f "$aside" "$path" || failed=1
  fi
  rm -f "$aside"
done < "$dir/targets"
if [ -f "$dir/folders" ]; then
  sort -r "$dir/folders" | while read -r folder; do rmdir "$folder" 2>/dev/null; done
fi
while read -r verb unit table; do
  case "$verb" in
    drop_table)
      systemctl daemon-reload
      if [ -e "/etc/systemd/system/$unit" ]; then systemctl reload-or-restart "$unit" || failed=1; fi;;
    reload_ssh)
      mkdir -p /run/sshd
      if ! sshd -t; then failed=1
      elif systemctl is-active --quiet ssh.socket; then systemctl try-restart ssh.service || failed=1
      elif systemctl is-active --quiet ssh.service; then systemctl reload ssh.service || failed=1; fi;;
    restore_sysctl)
      if [ -f "$dir/sysctl" ]; then
        while IFS=$tab read -r file value; do printf '%s' "$value" > "$file" 2>/dev/null || true; done < "$dir/sysctl"
      fi;;
    restart_unit)
      if systemctl cat "$unit" >/dev/null 2>&1; then systemctl try-restart "$unit" || failed=1; fi;;
  esac
done < "$dir/undo"
sync
if [ "$failed" = 0 ]; then echo undone > "$dir/state"; fi
exit "$failed"
`;

/**
 * Started by the timer at the deadline, and at every boot: an armed step that no login has verified is undone. The
 * clock is not asked: after a boot it can be wrong, and the login that would have verified the step is gone anyway.
 * `$1`, where there is one, is the token of who asks: one who was away for so long that another took over undoes nothing of that.
 */
const deadmanScript = `set -u
state=${stateDir}
is_askers() { [ $# = 0 ] || [ "$(sed -n 1p "$state/armed" 2>/dev/null)" = "$1" ]; }
is_askers "$@" || exit 0
exec 9> "$state/lock"
flock -w 20 9 || { systemctl stop 'slipway-harden-*.service'; flock -w 10 9 || true; }
is_askers "$@" || exit 0
if [ -f "$state/armed" ]; then
  dir=$(sed -n 2p "$state/armed")
  sh "$state/undo-step.sh" "$dir" || exit 1
  date +%s > "$dir/fired"
  rm -f "$state/armed"
fi
units=/etc/systemd/system
rm -f "$units/multi-user.target.wants/slipway-deadman.service" "$units/slipway-deadman.service" "$units/slipway-deadman.timer"
systemctl daemon-reload
systemctl stop --no-block slipway-deadman.timer 2>/dev/null || true
`;

/** Writes the files of a step and runs its commands. 71: not armed (any more). 72: changed since. */
const changeScript = String.raw`set -eu
dir=$1 token=$2
state=${stateDir}
tab=$(printf '\t')
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C.UTF-8
exec 9> "$state/lock"
flock -w 60 9
if [ "$token" != - ] && [ "$(sed -n 1p "$state/armed" 2>/dev/null)" != "$token" ]; then exit 71; fi
sh "$state/compare.sh" "$dir" || exit 72
port= pid= mark=
if grep -q '^reload_ssh' "$dir/undo"; then
  mkdir -p /run/sshd
  for file in "$dir"/new/*; do
    if grep -q "^$(basename "$file")$tab.*sshd_config" "$dir/targets"; then
      cat "$file" /etc/ssh/sshd_config > "$dir/sshd_config.try"
      sshd -t -f "$dir/sshd_config.try"
    fi
  done
  # Where systemd holds the port, the command is a restart, which ends when the new sshd is there.
  if systemctl is-active --quiet ssh.socket; then pid=0
  else pid=$(systemctl show --property MainPID --value ssh.service); fi
  if [ "$pid" != 0 ]; then mark=$(cksum < "/proc/$pid/auxv"); fi
fi
while IFS=$tab read -r index mode shaBefore shaAfter path; do
  if [ "$shaAfter" = absent ]; then rm -f "$path"; continue; fi
  mkdir -p "$(dirname "$path")"
  aside="$(dirname "$path")/.$(basename "$path").slipway"
  cp "$dir/new/$index" "$aside"
  chown root:root "$aside"
  chmod "$mode" "$aside"
  mv -f "$aside" "$path"
done < "$dir/targets"
sync
for file in $(ls "$dir/cmd" | sort -n); do
  xargs -0 -a "$dir/cmd/$file" timeout --kill-after=10 1500 < /dev/null
done
# A reload is only asked for; the old listener could still take the login that is to prove the new one.
if [ -n "$mark" ]; then
  tries=0
  while [ "$(cksum < "/proc/$pid/auxv")" = "$mark" ]; do
    tries=$((tries + 1)); if [ "$tries" -gt 100 ]; then echo 'sshd did not take the reload' >&2; exit 1; fi
    sleep 0.1
  done
  for port in $(sshd -T | sed -n 's/^port //p'); do
    hex=$(printf ':%04X ' "$port"); tries=0
    until cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q "$hex[0-9A-F:]* 0A "; do
      tries=$((tries + 1)); if [ "$tries" -gt 100 ]; then echo "sshd does not listen on $port" >&2; exit 1; fi
      sleep 0.1
    done
  done
fi
`;

/** Names the files of a step that are neither as they were when the plan was made nor as the step leaves them. */
const compareScript = String.raw`set -eu
tab=$(printf '\t') differs=0
while IFS=$tab read -r index mode shaBefore shaAfter path; do
  now=absent
  if [ -e "$path" ]; then now=$(sha256sum < "$path" | cut -d' ' -f1); fi
  if [ "$now" != "$shaBefore" ] && [ "$now" != "$shaAfter" ]; then echo "changed-since $path"; differs=1; fi
done < "$1/targets"
exit "$differs"
`;

export const installPackagesScript = String.raw`set -eu
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 LC_ALL=C.UTF-8
dpkg --configure -a --force-confdef --force-confold
install() {
  apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}
install "$@" || { apt-get update -q; install "$@"; }
`;

export const serverScripts: Readonly<Record<string, string>> = {
  'undo-step.sh': undoStepScript,
  'deadman.sh': deadmanScript,
  'change.sh': changeScript,
  'compare.sh': compareScript,
  'install.sh': installPackagesScript,
};
