#!/usr/bin/env bash
# Owns the first start of a PostgreSQL container: it makes the cluster, the database and the first user, and runs what
# lies in /docker-entrypoint-initdb.d. It refuses to make a cluster that anybody could enter without a password,
# unless it is told to. Values of the environment reach SQL only as psql variables, and no shell at all.
set -Eeuo pipefail

fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# NAME, or the content of the file that NAME_FILE points to, or a default; never two of them.
from_env_or_file() {
  local name=$1 file_name=$1_FILE value=${2:-}
  if [ -n "${!name:-}" ] && [ -n "${!file_name:-}" ]; then
    fail "error: both $name and $file_name are set (but are exclusive)"
  fi
  if [ -n "${!name:-}" ]; then
    value=${!name}
  elif [ -n "${!file_name:-}" ]; then
    value=$(< "${!file_name}")
  fi
  export "$name=$value"
  unset "$file_name"
}

only_asks_for_help() {
  local argument
  for argument in "$@"; do
    case "$argument" in
      -'?' | --help | --describe-config | -V | --version) return 0 ;;
    esac
  done
  return 1
}

make_folders() {
  mkdir -p -- "$PGDATA" /var/run/postgresql
  if [ -n "${POSTGRES_INITDB_WALDIR:-}" ]; then
    mkdir -p -- "$POSTGRES_INITDB_WALDIR"
  fi
  [ "$(id -u)" = 0 ] || return 0
  chmod 00700 -- "$PGDATA"
  chmod 03775 /var/run/postgresql
  find -- "$PGDATA" ${POSTGRES_INITDB_WALDIR:+"$POSTGRES_INITDB_WALDIR"} /var/run/postgresql \
    ! -user postgres -exec chown postgres '{}' +
}

refuse_what_cannot_work() {
  # initdb cannot make such a user, and puts a double quote into its SQL as it is.
  case "$POSTGRES_USER" in
    *[\"\'\$\\]*) fail 'Error: POSTGRES_USER must not hold quotes, dollar signs or backslashes.' ;;
  esac
  case "$POSTGRES_HOST_AUTH_METHOD" in
    *$'\n'*) fail 'Error: POSTGRES_HOST_AUTH_METHOD must be a single line.' ;;
  esac
  if [ -z "$POSTGRES_PASSWORD" ] && [ "$POSTGRES_HOST_AUTH_METHOD" != trust ]; then
    fail 'Error: Database is uninitialized and superuser password is not specified.' \
      '       You must specify POSTGRES_PASSWORD to a non-empty value for the superuser,' \
      '       for example "-e POSTGRES_PASSWORD=password" on "docker run".' \
      '       POSTGRES_HOST_AUTH_METHOD=trust allows all connections without a password;' \
      '       that is not recommended.'
  fi
  if [ "$POSTGRES_HOST_AUTH_METHOD" = trust ]; then
    echo 'WARNING: POSTGRES_HOST_AUTH_METHOD is "trust": anybody who reaches the port may enter.' >&2
  fi
}

make_cluster() {
  local words=()
  # xargs understands quotes as a shell does, but expands and runs nothing.
  mapfile -d '' -t words < <(printf '%s' "$POSTGRES_INITDB_ARGS" | xargs -r printf '%s\0')
  wait "$!" || fail 'Error: POSTGRES_INITDB_ARGS has a quote that is not closed.'
  if [ -n "${POSTGRES_INITDB_WALDIR:-}" ]; then
    words=(--waldir "$POSTGRES_INITDB_WALDIR" "${words[@]}")
  fi
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") "${words[@]}"
  local method=$POSTGRES_HOST_AUTH_METHOD
  printf '\nhost all all all %s\n' "${method:-$(postgres -C password_encryption)}" >> "$PGDATA/pg_hba.conf"
}

# For the init scripts too: those that are sourced may call it as in the official image.
docker_process_sql() {
  PGHOST='' PGHOSTADDR='' PGUSER=$POSTGRES_USER PGDATABASE=${PGDATABASE-$POSTGRES_DB} \
    psql -v ON_ERROR_STOP=1 --no-password --no-psqlrc "$@"
}

make_database() {
  PGDATABASE=postgres docker_process_sql --quiet -v name="$POSTGRES_DB" <<< '
    SELECT NOT EXISTS (SELECT FROM pg_database WHERE datname = :'\''name'\'') AS missing \gset
    \if :missing
      CREATE DATABASE :"name";
    \endif'
}

# One that is not executable runs in this shell, which then must not object to unset variables.
run_script() {
  if [ -x "$1" ]; then
    "$1"
  else
    set +u
    . "$1"
    set -u
  fi
}

run_init_files() {
  local file
  for file in /docker-entrypoint-initdb.d/*; do
    [ -e "$file" ] || continue
    case "$file" in
      *.sh)
        printf '%s: running %s\n' "$0" "$file"
        run_script "$file"
        ;;
      *.sql)
        printf '%s: running %s\n' "$0" "$file"
        docker_process_sql -f "$file"
        ;;
      *.sql.gz)
        printf '%s: running %s\n' "$0" "$file"
        gunzip -c -- "$file" | docker_process_sql
        ;;
      *) printf '%s: ignoring %s\n' "$0" "$file" ;;
    esac
  done
}

# This server is for the files above: it listens on the socket alone, so nobody takes it for the real one.
start_for_init() {
  NOTIFY_SOCKET='' "$@" -c listen_addresses='' -c unix_socket_directories=/var/run/postgresql -p "${PGPORT:-5432}" &
  init_server=$!
  trap 'stop_after_init || true' EXIT
  until PGHOST='' pg_isready --quiet --username="$POSTGRES_USER" --dbname=postgres; do
    kill -0 "$init_server" 2> /dev/null || fail 'Error: the server for the first start ended.'
    sleep 0.1
  done
}

stop_after_init() {
  trap - EXIT
  kill -INT "$init_server"
  wait "$init_server"
}

# Read as root already, because root alone may be able to read the files.
read_environment() {
  from_env_or_file POSTGRES_PASSWORD
  from_env_or_file POSTGRES_USER postgres
  from_env_or_file POSTGRES_DB "$POSTGRES_USER"
  from_env_or_file POSTGRES_INITDB_ARGS
  from_env_or_file POSTGRES_HOST_AUTH_METHOD
}

initialize() {
  refuse_what_cannot_work
  ls /docker-entrypoint-initdb.d/ > /dev/null
  make_cluster
  export PGPASSWORD="${PGPASSWORD:-$POSTGRES_PASSWORD}"
  start_for_init "$@"
  make_database
  run_init_files
  stop_after_init
  unset PGPASSWORD
  printf '\nPostgreSQL init process complete; ready for start up.\n\n'
}

case "${1:-}" in
  -*) set -- postgres "$@" ;;
esac

if [ "${1:-}" = postgres ] && ! only_asks_for_help "$@"; then
  read_environment
  make_folders
  if [ "$(id -u)" = 0 ]; then
    HOME=/var/lib/postgresql exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
  fi
  if [ -s "$PGDATA/PG_VERSION" ]; then
    printf '\nPostgreSQL Database directory appears to contain a database; Skipping initialization\n\n'
  else
    initialize "$@"
  fi
fi

exec "$@"
