#!/bin/sh
# Runs what lies in /docker-entrypoint.d in order: *.envsh in this shell, executable *.sh on their own.
set -eu

say() {
  [ -n "${NGINX_ENTRYPOINT_QUIET_LOGS:-}" ] || printf '%s: %s\n' "$0" "$1"
}

if [ "${1:-}" = nginx ] || [ "${1:-}" = nginx-debug ]; then
  for script in /docker-entrypoint.d/*; do
    case "$script" in
      *.envsh | *.sh)
        if [ ! -x "$script" ]; then
          say "Ignoring $script, it is not executable"
          continue
        fi
        say "Running $script"
        case "$script" in
          *.envsh) . "$script" ;;
          *) "$script" ;;
        esac
        ;;
      *) say "Ignoring $script" ;;
    esac
  done
fi

exec "$@"
