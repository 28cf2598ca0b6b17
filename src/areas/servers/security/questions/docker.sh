# The daemon, its settings, and what containers publish.
docker_facts() {
  has docker || has dockerd || return 127
  limit docker info --format '{"version":{{json .ServerVersion}},"liveRestore":{{json .LiveRestoreEnabled}},"security":{{json .SecurityOptions}},"logging":{{json .LoggingDriver}},"swarm":{{json .Swarm.LocalNodeState}}}' 2>/dev/null || {
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
