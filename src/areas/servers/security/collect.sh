# Prints every raw fact that the checks need, in one round trip. It only reads. Each section is `@name code length`,
# a line feed, that many bytes, a line feed; so nothing inside a section can pass for another one. Code 127 says
# that what it asks is not installed, 124 that it took too long, `skipped` that the time was up before.
# $1 our user, $2 our address as the server sees it or nothing, $3 the server's address or nothing, $4 its SSH port.
set +e
LC_ALL=C
PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
export LC_ALL PATH
ours=$1
from=$2
local_address=$3
ssh_port=$4
deadline=$(($(date +%s) + 9))
most=400000

# A name that could mean more than a name, to sshd or to find, is not asked for.
case $ours in
  '' | -* | *[!A-Za-z0-9_.-]*) ours=root ;;
esac

take() {
  left=$((deadline - $(date +%s)))
  if [ "$left" -le 0 ] && [ "$1" != end ]; then
    printf '@%s skipped 0\n\n' "$1"
    return
  fi
  # Nothing may read the standard input: the script itself can be what comes there.
  out=$("$1_facts" 2>&1 </dev/null)
  code=$?
  if [ "${#out}" -gt "$most" ]; then
    code=cut
    out=$(printf '%s' "$out" | head -c "$most")
  fi
  printf '@%s %s %s\n%s\n' "$1" "$code" "${#out}" "$out"
}

limit() { timeout -k 1 "$left" "$@"; }
has() { command -v "$1" >/dev/null; }

# Those who can get a shell, root and ours first. Names that could mean more than a name to `sshd -C` are left out.
login_users() {
  {
    printf 'root\n%s\n' "$ours"
    awk -F: '$7 !~ /(nologin|false|sync|shutdown|halt)$/ { print $1 }' /etc/passwd
  } | grep -E '^[A-Za-z0-9_][A-Za-z0-9_.-]*$' | awk '!seen[$0]++' | head -n 20
}

# Under sudo the variable is gone from our own environment, but not from that of the session above us.
connection_facts() {
  pid=$$
  while [ "$pid" -gt 1 ]; do
    found=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's/^SSH_CONNECTION=//p')
    [ -n "$found" ] && break
    pid=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$pid/status")
  done
  printf '%s\n' "$found"
}
if [ -z "$from" ] || [ -z "$local_address" ]; then
  seen=$(connection_facts)
  [ -n "$from" ] || from=$(echo "$seen" | cut -d ' ' -f 1)
  [ -n "$local_address" ] || local_address=$(echo "$seen" | cut -s -d ' ' -f 3)
fi
[ -n "$local_address" ] || local_address=127.0.0.1

home_of() { getent passwd "$1" | cut -d: -f6; }

clock_facts() { date +%s.%N; }
end_facts() { date +%s.%N; }
os_facts() { cat /etc/os-release; }
container_facts() {
  has systemd-detect-virt || return 127
  systemd-detect-virt --container
  return 0
}

sshd_seen_by() {
  printf '= %s %s\n' "$1" "$2"
  limit sshd -T -C "user=$1,host=client.invalid,addr=$2,laddr=$local_address,lport=$ssh_port"
}

# 192.0.2.1 belongs to nobody: it stands for the internet. `Match` blocks can make a difference between it and us.
sshd_facts() {
  has sshd || return 127
  for user in $(login_users); do
    sshd_seen_by "$user" 192.0.2.1 || return
  done
  [ -z "$from" ] && return 0
  for user in $(login_users | head -n 2); do
    sshd_seen_by "$user" "$from" || return
  done
}

sshd_running_facts() {
  has systemctl || return 127
  limit systemctl show ssh.service --timestamp=unix -p ActiveState -p StateChangeTimestamp -p ActiveEnterTimestamp
  printf 'NewestFile=%s\n' "$(find /etc/ssh/sshd_config /etc/ssh/sshd_config.d -printf '%T@ %p\n' | sort -rn | head -n 1)"
}

host_keys_facts() {
  for file in $(sshd -T 2>/dev/null | awk '$1 == "hostkey" { print $2 }'); do
    printf '%s ' "$file"
    ssh-keygen -l -f "$file.pub" || return
  done
}

listeners_facts() {
  has ss || return 127
  ss -tlnHp
}

addresses_facts() {
  has ip || return 127
  ip -o addr show
}
routes_facts() {
  has ip || return 127
  { ip -o -4 route show default && ip -o -6 route show default; } | sed -n 's/.* dev \([^ ]*\).*/\1/p' | sort -u
}

iptables_facts() {
  has iptables-save || return 127
  limit iptables-save
}
ip6tables_facts() {
  has ip6tables-save || return 127
  limit ip6tables-save
}
nft_facts() {
  has nft || return 127
  limit nft -j list ruleset 2>/dev/null
}
ufw_facts() {
  has ufw || return 127
  limit ufw status verbose | head -n 60
}
boot_units_facts() {
  has systemctl || return 127
  limit systemctl list-unit-files --no-legend --no-pager --type=service --state=enabled,enabled-runtime
  sed -n 's/^ENABLED=/ufw.conf ENABLED=/p' /etc/ufw/ufw.conf 2>/dev/null
  return 0
}

fail2ban_facts() {
  has fail2ban-client || return 127
  printf 'service %s\n' "$(systemctl is-active fail2ban)"
  limit fail2ban-client status sshd || {
    limit journalctl -u fail2ban -n 4 -o cat --no-pager
    return 0
  }
  limit fail2ban-client get sshd actions | tail -n +2 | tr ', ' '\n\n' | grep -E '^[A-Za-z0-9_-]+$' | head -n 4 |
    while read -r action; do
      printf 'action %s port %s\n' "$action" "$(limit fail2ban-client get sshd action "$action" port | head -n 1)"
    done
  for tool in nft iptables; do
    has "$tool" && echo "tool $tool"
  done
  limit find /var/log/auth.log -printf 'log %p %s %T@\n' 2>/dev/null
  printf 'ignored %s\n' "$(limit fail2ban-client get sshd ignoreip | tr '\n' ' ')"
  printf 'banned %s\n' "$(limit fail2ban-client banned | head -c 20000)"
}

# As nobody, so that apt uses its cache where that is fresh, and cannot write a new one.
apt_facts() {
  has apt-get || return 127
  limit setpriv --reuid nobody --regid nogroup --clear-groups apt-get -s -o Debug::NoLocking=1 dist-upgrade |
    grep -E '^(Inst |E: |[0-9]+ upgraded)' | head -n 400
}
apt_lists_facts() {
  has apt-get || return 127
  # A `Release` without its signature beside it is there only where apt was told to take it unsigned.
  for file in /var/lib/apt/lists/*Release; do
    [ -f "$file" ] || continue
    signed=no
    case $file in
      *InRelease) signed=yes ;;
      *) [ -f "$file.gpg" ] && signed=yes ;;
    esac
    printf 'release %s %s %s\n' "${file##*/}" "$signed" "$(grep -a -m 1 '^Date: ' "$file")"
  done
  # The place only: the line itself may hold a password.
  grep -i -n -E '^[^#]*\[[^]]*(trusted|allow-insecure|allow-weak)=yes|^(Trusted|Allow-Insecure|Allow-Weak):[[:space:]]*yes' \
    /dev/null /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    cut -d: -f1,2 | sed 's/^/forced /'
  find /var/lib/apt/periodic/update-success-stamp -printf 'stamp %T@\n' 2>/dev/null
  return 0
}
apt_config_facts() {
  has apt-config || return 127
  limit apt-config dump | grep -E '^(APT::Periodic::|Unattended-Upgrade::(Allowed-Origins|Origins-Pattern)|APT::Get::AllowUnauthenticated|Acquire::Allow)'
  printf 'package %s\n' "$(dpkg-query -W -f '${db:Status-Status}' unattended-upgrades 2>/dev/null)"
  for timer in apt-daily.timer apt-daily-upgrade.timer; do
    printf 'timer %s %s\n' "$timer" "$(systemctl is-active "$timer")"
  done
}
reboot_facts() {
  printf 'running %s\n' "$(uname -r)"
  find /boot -maxdepth 1 -name 'vmlinuz-*' -printf 'kernel %f\n'
  for file in /run/reboot-required /var/run/reboot-required; do
    [ -e "$file" ] && echo required && break
  done
  head -n 10 /run/reboot-required.pkgs 2>/dev/null | sed 's/^/package /'
  return 0
}

# Names only. A hash never leaves the server.
accounts_facts() {
  [ -r /etc/shadow ] || return 1
  awk -F: '$2 == "" { print "empty " $1 }' /etc/shadow /etc/passwd
  awk -F: '$3 == 0 { print "zero " $1 }' /etc/passwd
  group=$(getent group docker) && {
    printf 'docker %s\n' "$(echo "$group" | cut -d: -f4 | tr ',' ' ')"
    awk -F: -v id="$(echo "$group" | cut -d: -f3)" '$4 == id { print "docker " $1 }' /etc/passwd
  }
  echo whole
}

# `visudo -c` names exactly the files that sudo reads.
sudoers_facts() {
  has visudo || return 127
  checked=$(limit visudo -c)
  code=$?
  printf '%s\n' "$checked" | head -n 40 | sed 's/^/check /'
  [ "$code" -eq 0 ] || return 0
  printf '%s\n' "$checked" | sed -n 's/: parsed OK$//p' | head -n 40 | while IFS= read -r file; do
    sed -e ':join' -e '/\\$/N; s/\\\n/ /; tjoin' "$file" | grep -E '^[^#]*(NOPASSWD|!authenticate)' | cut -c 1-300 |
      while IFS= read -r line; do
        printf 'line %s %s\n' "$file" "$line"
      done
  done
  return 0
}

key_files() {
  sshd_seen_by "$1" 192.0.2.1 2>/dev/null | awk '$1 == "authorizedkeysfile" { for (i = 2; i <= NF; i++) print $i }' | while read -r pattern; do
    path=$(printf '%s' "$pattern" | sed "s|%h|$2|g; s|%u|$1|g; s|%%|%|g")
    case $path in
      none) ;;
      /*) echo "$path" ;;
      *) echo "$2/$path" ;;
    esac
  done
}
authorized_keys_facts() {
  has ssh-keygen || return 127
  printf 'root\n%s\n' "$ours" | sort -u | while read -r user; do
    home=$(home_of "$user")
    [ -n "$home" ] || continue
    key_files "$user" "$home" | while IFS= read -r file; do
      [ -s "$file" ] || continue
      printf '= %s %s %s\n' "$user" "$file" "$(grep -c -v -E '^[[:space:]]*(#|$)' "$file")"
      ssh-keygen -l -f "$file" | head -n 60 | cut -c 1-300
    done
  done
  echo whole
}

modes_facts() {
  for user in root "$ours"; do
    home=$(home_of "$user")
    [ -n "$home" ] || continue
    find "$home" "$home/.ssh" -maxdepth 0 -printf "home %m %u $user %p\n" 2>/dev/null
    find "$home/.ssh" -maxdepth 1 -type f -name 'authorized_keys*' -printf "home %m %u $user %p\n" 2>/dev/null
  done
  find /etc/ssh -maxdepth 1 -name 'ssh_host_*_key' -printf 'private %m %u root %p\n'
  find /etc/shadow /etc/gshadow /etc/shadow- /etc/gshadow- -printf 'shadow %m %u root %p\n' 2>/dev/null
  find /etc/passwd /etc/group /etc/sudoers /etc/sudoers.d /etc/crontab /etc/ssh/sshd_config /etc/ssh/sshd_config.d -maxdepth 0 -printf 'shared %m %u root %p\n' 2>/dev/null
  return 0
}
world_writable_facts() {
  { limit find /etc -xdev \( -type f -o -type d ! -perm -1000 \) -perm -0002 -print && echo whole; } | head -n 40
}

sysctl_facts() {
  for key in net/ipv4/tcp_syncookies net/ipv4/ip_forward net/ipv6/conf/all/forwarding kernel/kptr_restrict \
    kernel/dmesg_restrict kernel/unprivileged_bpf_disabled kernel/yama/ptrace_scope fs/protected_hardlinks \
    fs/protected_symlinks fs/suid_dumpable kernel/core_pattern; do
    [ -r "/proc/sys/$key" ] && printf '%s %s\n' "$key" "$(cat "/proc/sys/$key")"
  done
  for device in all $(routes_facts); do
    for key in rp_filter accept_redirects send_redirects accept_source_route; do
      for version in ipv4 ipv6; do
        file="/proc/sys/net/$version/conf/$device/$key"
        [ -r "$file" ] && printf 'net/%s/conf/%s/%s %s\n' "$version" "$device" "$key" "$(cat "$file")"
      done
    done
  done
  return 0
}
core_facts() {
  cat /etc/security/limits.conf /etc/security/limits.d/*.conf 2>/dev/null | awk '$1 !~ /^#/ && $3 == "core"' | head -n 20
  return 0
}

time_facts() {
  has timedatectl || return 127
  limit timedatectl show -p NTP -p NTPSynchronized -p CanNTP
  for unit in systemd-timesyncd chrony chronyd ntp ntpsec; do
    [ "$(systemctl is-active "$unit")" = active ] && echo "unit $unit"
  done
  has chronyc && limit chronyc -n tracking 2>/dev/null | grep -E '^(Leap status|System time)'
  return 0
}
disk_facts() {
  for place in / /var /var/lib/docker /boot /tmp; do
    [ -d "$place" ] || continue
    limit df -P -k "$place" | tail -n 1 | sed 's/^/space /' || return
    limit df -P -i "$place" | tail -n 1 | sed 's/^/inodes /'
  done
}
apparmor_facts() {
  printf 'enabled %s\n' "$(cat /sys/module/apparmor/parameters/enabled 2>/dev/null)"
  printf 'enforced %s\n' "$(grep -c '(enforce)' /sys/kernel/security/apparmor/profiles 2>/dev/null)"
  printf 'selinux %s\n' "$(cat /sys/fs/selinux/enforce 2>/dev/null)"
}
logs_facts() {
  [ -d /var/log/journal ] && echo journal
  limit systemd-analyze cat-config systemd/journald.conf 2>/dev/null | grep -E '^Storage='
  for unit in rsyslog auditd; do
    [ "$(systemctl is-active "$unit")" = active ] && echo "unit $unit"
  done
  return 0
}

docker_facts() {
  has docker || has dockerd || return 127
  limit docker info --format '{"version":{{json .ServerVersion}},"liveRestore":{{json .LiveRestoreEnabled}},"security":{{json .SecurityOptions}},"logging":{{json .LoggingDriver}}}' 2>/dev/null || {
    limit docker info 2>&1 | tail -n 2
    return 1
  }
}
containers_facts() {
  has docker || return 127
  ids=$(limit docker ps -q --no-trunc 2>&1) || {
    printf '%s' "$ids" | tail -n 2
    return 1
  }
  [ -n "$ids" ] || return 0
  # One may end between the two commands; the others are still shown.
  printf '%s\n' "$ids" | head -n 300 | limit xargs docker inspect --format '{{json .Name}} {{json .NetworkSettings.Ports}} {{json .HostConfig.LogConfig.Config}}' 2>/dev/null
  return 0
}
dockerd_facts() {
  has dockerd || return 127
  [ -r /etc/docker/daemon.json ] && cat /etc/docker/daemon.json
  return 0
}
dockerd_arguments_facts() {
  has dockerd || return 127
  pid=$(systemctl show docker.service -p MainPID --value)
  [ "$pid" -gt 0 ] && tr '\0' '\n' <"/proc/$pid/cmdline"
  return 0
}

{
  for section in clock connection os container sshd sshd_running host_keys listeners addresses routes iptables ip6tables nft ufw \
    boot_units fail2ban apt_lists apt_config reboot accounts sudoers authorized_keys modes world_writable sysctl \
    core time disk apparmor logs docker containers dockerd dockerd_arguments apt; do
    take "$section"
  done
  take end
} | gzip -c
