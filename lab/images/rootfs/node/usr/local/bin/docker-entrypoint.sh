#!/bin/sh
# Options, names that are no command, and files that are not executable are meant for node.
set -eu

if [ "$#" -gt 0 ]; then
  case "$1" in
    -*) set -- node "$@" ;;
    *)
      if ! command -v -- "$1" > /dev/null || { [ -f "$1" ] && [ ! -x "$1" ]; }; then
        set -- node "$@"
      fi
      ;;
  esac
fi

exec "$@"
