# The kernel, the clock, the disk, the logs.
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
