# The effective settings of sshd, and what it runs with.
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
  printf 'Socket=%s\n' "$(systemctl is-active ssh.socket)"
  printf 'NewestFile=%s\n' "$(find /etc/ssh/sshd_config /etc/ssh/sshd_config.d -printf '%T@ %p\n' | sort -rn | head -n 1)"
}

host_keys_facts() {
  for file in $(sshd -T 2>/dev/null | awk '$1 == "hostkey" { print $2 }'); do
    printf '%s ' "$file"
    ssh-keygen -l -f "$file.pub" || return
  done
}
