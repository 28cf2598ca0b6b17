#!/bin/sh
# -W keeps a master that reloads on SIGUSR2; -db keeps it in the foreground.
set -eu

case "${1:-}" in
  -*) set -- haproxy "$@" ;;
esac

if [ "${1:-}" = haproxy ]; then
  shift
  set -- haproxy -W -db "$@"
fi

exec "$@"
