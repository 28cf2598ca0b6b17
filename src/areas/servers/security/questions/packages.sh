# Fixes that wait, where they come from, and who installs them.
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
