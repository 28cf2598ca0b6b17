# Who can become root, and files that decide about it.
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
