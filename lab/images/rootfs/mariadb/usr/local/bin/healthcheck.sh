#!/usr/bin/env bash
# Answers whether the server is up, by the account that the entrypoint made for this. Every test that is asked for has
# to succeed. Over TCP on purpose: the server of the first start has no port, and is not to be taken for ready.
set -euo pipefail

datadir=/var/lib/mysql
tests=()

ask() {
  mariadb --defaults-extra-file="$datadir/.my-healthcheck.cnf" \
    --host=127.0.0.1 --protocol=tcp --skip-column-names --batch --execute="$1"
}

connect() {
  [ "$(ask 'SELECT 1')" = 1 ]
}

innodb_initialized() {
  [ "$(ask "SELECT 1 FROM information_schema.ENGINES
    WHERE engine = 'innodb' AND support IN ('YES', 'DEFAULT', 'ENABLED')")" = 1 ]
}

innodb_buffer_pool_loaded() {
  [ "$(ask "SELECT 1 FROM information_schema.GLOBAL_STATUS
    WHERE variable_name = 'Innodb_buffer_pool_load_status' AND variable_value NOT LIKE 'Loading%'")" = 1 ]
}

for argument in "$@"; do
  case "$argument" in
    --connect | --innodb_initialized | --innodb_buffer_pool_loaded) tests+=("${argument#--}") ;;
    --datadir=*) datadir=${argument#*=} ;;
    *)
      printf 'healthcheck.sh of the lab does not know %s\n' "$argument" >&2
      exit 1
      ;;
  esac
done

if [ "${#tests[@]}" -eq 0 ]; then
  echo 'At least one healthcheck is required, for example --connect --innodb_initialized' >&2
  exit 1
fi

for test in "${tests[@]}"; do
  if ! "$test"; then
    printf 'healthcheck %s failed\n' "$test" >&2
    exit 1
  fi
done
