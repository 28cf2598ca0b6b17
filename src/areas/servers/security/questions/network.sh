# What listens, what the firewall does, and whom fail2ban bans.
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
