/**
 * What a build may not reach, as part of its unit's program. Two ways lead out of a build:
 *
 * - Its steps (`RUN`) run in sandboxes on Docker's default bridge, which the server's owner may use too. A sandbox is what
 *   has an address there and is no container: only those are meant.
 * - What a Dockerfile fetches (`ADD`, `FROM`, Git, `# syntax=`, and `ONBUILD` of a base image) Docker fetches itself, on
 *   the server's own network, wherever redirects and registries send it. No reading of the Dockerfile could tell. Docker's
 *   new connections are known by its control group.
 *
 * The rules are there while a build of ours runs. For that time Docker makes no new connection to the server itself, which
 * also concerns a log driver of the owner's that connects again: the price of not touching how their Docker is set up.
 */
import { buildsLock, buildsTable, exceptions, publicPorts, reachChains } from './network-rules.ts';
import { appNetworks } from './networks.ts';

/**
 * `guard` fails where the rules cannot be loaded. Needs sh with `-eu`, `ask_docker`, and what that told at the beginning in
 * `$begun`; descriptor 8 is its own.
 *
 * Docker is in a control group of its own wherever systemd has started it, also where version 2 is there beside version 1
 * and only for telling processes apart. Where it was started otherwise, it is put into one.
 */
export const guardScript = `
docker_group() {
  pid=$(cat /run/docker.pid 2> /dev/null) || :
  if [ "$(cat "/proc/\${pid:-none}/comm" 2> /dev/null)" != dockerd ]; then
    pid=$(systemctl show --property MainPID --value docker.service)
    if [ "\${pid:-0}" = 0 ]; then return 1; fi
  fi
  unified=$(sed -n 's/^[^ ]* \\([^ ]*\\) cgroup2 .*/\\1/p' /proc/mounts | head -n 1)
  if [ -z "$unified" ]; then echo 'There are no control groups of version 2, by which Docker is known.' >&2; return 1; fi
  group=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
  case $group in
    *.service|*/slipway-docker) ;;
    *)
      group=\${group%/}/slipway-docker
      mkdir -p "$unified$group"
      echo "$pid" > "$unified$group/cgroup.procs" || return 1 ;;
  esac
  level=$(printf %s "$group" | tr -cd / | wc -c)
  # nft looks for the group from /sys/fs/cgroup on.
  echo "socket cgroupv2 level $level \\"../../..$unified$group\\""
}
# The standard input is what \`ask_docker\` told of the bridge.
containers_rules() {
  echo 'flush set ${buildsTable} containers'
  echo 'flush set ${buildsTable} containers6'
  while read -r kind each; do
    case $kind:$each in
      address:*:*) echo "add element ${buildsTable} containers6 { $each }" ;;
      address:*) echo "add element ${buildsTable} containers { $each }" ;;
    esac
  done
}
build_rules() {
  from_docker=$(docker_group) || return 1
  bridge=$(printf '%s\\n' "$begun" | sed -n 's/^bridge //p')
  cat << END
table ${buildsTable} {}
delete table ${buildsTable}
table ${buildsTable} {
  set containers { type ipv4_addr; }
  set containers6 { type ipv6_addr; }
${reachChains}  chain from_docker {
    ip daddr != 127.0.0.0/8 fib daddr type local ${publicPorts}
    ip6 daddr != ::1 fib daddr type local ${publicPorts}
    ${exceptions}
    ip daddr { 127.0.0.0/8, ${appNetworks} } goto refused
    fib daddr type local goto refused
    goto to_metadata
  }
  chain from_sandbox {
    ct state established,related accept
    ip daddr ${appNetworks} goto refused
    oifname "$bridge" goto refused
    goto to_metadata
  }
  chain output {
    type filter hook output priority filter - 10; policy accept;
    ct state new $from_docker goto from_docker
  }
  chain input {
    type filter hook input priority filter - 10; policy accept;
    iifname "$bridge" ip saddr != @containers goto to_server
    iifname "$bridge" ip6 saddr != @containers6 goto to_server
  }
  chain forward {
    type filter hook forward priority filter - 10; policy accept;
    iifname "$bridge" ip saddr != @containers goto from_sandbox
    iifname "$bridge" ip6 saddr != @containers6 goto from_sandbox
  }
}
END
  printf '%s\\n' "$begun" | containers_rules
}
guard() {
  exec 8>> ${buildsLock}
  flock --shared 8
  loaded=$(build_rules) || return 1
  printf '%s\\n' "$loaded" | nft --file - || return 1
  follow_containers 8>&- &
  follower=$!
}
# A container of the owner's that comes or goes meanwhile is let through, or is no more. When it is connected at its
# start, Docker does not list it yet.
follow_containers() {
  ask_docker follow | while read -r each; do ask_docker bridge | containers_rules | nft --file - || :; done
}
# The last build takes the rules away.
unguard() {
  if [ -n "\${follower:-}" ]; then kill "$follower" 2> /dev/null || :; fi
  if flock --exclusive --nonblock 8 2> /dev/null; then nft delete table ${buildsTable} 2> /dev/null || :; fi
}
`;
