#!/bin/sh
# Starts Redis as the user redis. The official image's Redis is built with protected mode off, because a container's
# network decides who reaches it; here an option does the same, unless the configuration file says otherwise.
set -eu

case "${1:-}" in
  -* | *.conf) set -- redis-server "$@" ;;
esac

if [ "${1:-}" = redis-server ] && [ "$(id -u)" = 0 ]; then
  # A volume from elsewhere may belong to anybody; one that is mounted read-only stays as it is.
  find /data ! -user redis -exec chown redis '{}' + || echo 'Some files of the data folder keep their owner.' >&2
  HOME=/data exec setpriv --reuid=redis --regid=redis --init-groups -- "$0" "$@"
fi

if [ "${1:-}" = redis-server ]; then
  if [ "$(umask)" = 0022 ]; then
    umask 0077
  fi
  shift
  case "${1:-}" in
    # These only work as the single argument.
    -v | --version | -h | --help | --test-memory | --check-system) ;;
    '' | --*) set -- --protected-mode no "$@" ;;
    *)
      # A file of settings has to stay the first argument, or CONFIG REWRITE does not find it.
      file=$1
      shift
      if [ -r "$file" ] && grep -Eiq '^[[:space:]]*protected-mode[[:space:]]' -- "$file"; then
        set -- "$file" "$@"
      else
        set -- "$file" --protected-mode no "$@"
      fi
      ;;
  esac
  set -- redis-server "$@"
fi

exec "$@"
