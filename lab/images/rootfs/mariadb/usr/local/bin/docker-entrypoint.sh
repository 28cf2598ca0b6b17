#!/usr/bin/env bash
# Owns the first start of a MariaDB container: it makes the system tables, the accounts and the database, and runs what
# lies in /docker-entrypoint-initdb.d. It refuses to start without a decision about root's password. Values of the
# environment reach SQL only as hexadecimal literals, and no shell at all.
set -Eeuo pipefail
shopt -s nullglob

fail() {
  printf '%s [ERROR] [Entrypoint]: %s\n' "$(date --rfc-3339=seconds)" "$*" >&2
  exit 1
}

note() {
  printf '%s [Note] [Entrypoint]: %s\n' "$(date --rfc-3339=seconds)" "$*"
}

# MARIADB_x or MYSQL_x, each also from a file (…_FILE); MARIADB_ comes first. Ends up in both, as scripts read either.
from_env_or_file() {
  local prefix name file_name value=''
  for prefix in MYSQL MARIADB; do
    name=${prefix}_$1 file_name=${prefix}_$1_FILE
    if [ -n "${!name:-}" ] && [ -n "${!file_name:-}" ]; then
      fail "Both $name and $file_name are set (but are exclusive)"
    fi
    if [ -n "${!name:-}" ]; then
      value=${!name}
    elif [ -n "${!file_name:-}" ]; then
      value=$(< "${!file_name}")
    fi
    unset "$file_name"
  done
  export "MARIADB_$1=$value" "MYSQL_$1=$value"
}

only_asks_for_help() {
  local argument
  for argument in "$@"; do
    case "$argument" in
      -'?' | --help | --print-defaults | -V | --version) return 0 ;;
    esac
  done
  return 1
}

# What the server itself makes of its files and arguments. If it refuses them, it says why when asked again.
read_settings() {
  if ! settings=$("${server[@]}" --verbose --help 2> /dev/null); then
    "${server[@]}" --verbose --help > /dev/null || fail 'mariadbd refuses its configuration or arguments.'
  fi
  datadir=$(setting datadir)
  datadir=${datadir%/}
  socket=$(setting socket)
}

setting() {
  awk -v name="$1" '$1 == name { value = $2 } END { print value }' <<< "$settings"
}

docker_process_sql() {
  MYSQL_PWD=$MARIADB_ROOT_PASSWORD mariadb --protocol=socket -uroot -hlocalhost --socket="$socket" --comments "$@"
}

# A value as an SQL expression that holds nothing but hexadecimal digits.
text() {
  printf "CONVERT(X'%s' USING utf8mb4)" "$(printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n')"
}

random_word() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

# The system tables come with more root accounts that have no password; they go first.
# In a GRANT, _ and % of a database's name are wildcards.
account_statements() {
  cat << END
SET NAMES utf8mb4;
SET SESSION sql_mode = '', SESSION sql_log_bin = 0;
SET @password = $(text "$1"), @host = $(text "${MARIADB_ROOT_HOST:-%}"), @health = $(text "$2");
SET @database = $(text "$MARIADB_DATABASE"), @user = $(text "$MARIADB_USER");
SET @user_password = $(text "$MARIADB_PASSWORD");
END
  cat << 'END'
DELIMITER //
BEGIN NOT ATOMIC
  DECLARE account TEXT;
  EXECUTE IMMEDIATE CONCAT('ALTER USER root@localhost IDENTIFIED BY ', QUOTE(@password));
  FOR entry IN (SELECT host FROM mysql.user WHERE user = 'root' AND host <> 'localhost') DO
    EXECUTE IMMEDIATE CONCAT('DROP USER root@', QUOTE(entry.host));
  END FOR;
  IF @host <> 'localhost' THEN
    SET account = CONCAT('root@', QUOTE(@host));
    EXECUTE IMMEDIATE CONCAT('CREATE USER ', account, ' IDENTIFIED BY ', QUOTE(@password));
    EXECUTE IMMEDIATE CONCAT('GRANT ALL ON *.* TO ', account, ' WITH GRANT OPTION');
  END IF;
  FOR entry IN (SELECT '127.0.0.1' AS host UNION SELECT '::1' UNION SELECT 'localhost') DO
    EXECUTE IMMEDIATE CONCAT('CREATE USER healthcheck@', QUOTE(entry.host), ' IDENTIFIED BY ', QUOTE(@health));
  END FOR;
  IF @database <> '' THEN
    SET @quoted = CONCAT('`', REPLACE(@database, '`', '``'), '`');
    EXECUTE IMMEDIATE CONCAT('CREATE DATABASE IF NOT EXISTS ', @quoted);
  END IF;
  IF @user <> '' THEN
    SET account = CONCAT(QUOTE(@user), '@''%''');
    EXECUTE IMMEDIATE CONCAT('CREATE USER ', account, ' IDENTIFIED BY ', QUOTE(@user_password));
    IF @database <> '' THEN
      SET @quoted = REPLACE(REPLACE(REPLACE(@quoted, '\\', '\\\\'), '_', '\\_'), '%', '\\%');
      EXECUTE IMMEDIATE CONCAT('GRANT ALL ON ', @quoted, '.* TO ', account);
    END IF;
  END IF;
END//
END
}

# Read as root already, because root alone may be able to read the files.
read_environment() {
  local name
  for name in ROOT_PASSWORD ROOT_HOST DATABASE USER PASSWORD; do
    from_env_or_file "$name"
  done
}

choose_root_password() {
  local random=${MARIADB_RANDOM_ROOT_PASSWORD:-${MYSQL_RANDOM_ROOT_PASSWORD:-}}
  local empty=${MARIADB_ALLOW_EMPTY_ROOT_PASSWORD:-${MYSQL_ALLOW_EMPTY_PASSWORD:-}}
  if [ -z "$MARIADB_ROOT_PASSWORD$random$empty" ]; then
    fail 'Database is uninitialized and password option is not specified. You need to specify one of' \
      'MARIADB_ROOT_PASSWORD, MARIADB_ALLOW_EMPTY_ROOT_PASSWORD and MARIADB_RANDOM_ROOT_PASSWORD'
  fi
  if [ "$MARIADB_USER" = root ]; then
    fail 'MARIADB_USER="root", MARIADB_USER cannot be the root user'
  fi
  if [ -n "$MARIADB_USER" ] && [ -z "$MARIADB_PASSWORD" ]; then
    fail 'MARIADB_PASSWORD is not specified, but MARIADB_USER is'
  fi
  root_password=$MARIADB_ROOT_PASSWORD
  if [ -n "$random" ]; then
    root_password=$(random_word)
    note "GENERATED ROOT PASSWORD: $root_password"
  fi
}

# This server is for the statements and files below: it has the socket alone, so nobody takes it for the real one.
start_for_init() {
  "${server[@]}" --skip-networking --socket="$socket" --wsrep-on=OFF --skip-log-bin &
  init_server=$!
  trap 'stop_after_init || true' EXIT
  until MARIADB_ROOT_PASSWORD='' docker_process_sql --execute='SELECT 1' > /dev/null 2>&1; do
    kill -0 "$init_server" 2> /dev/null || fail 'The server for the first start ended.'
    sleep 0.1
  done
}

stop_after_init() {
  trap - EXIT
  kill "$init_server"
  wait "$init_server"
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
    case "$file" in
      *.sh)
        note "running $file"
        run_script "$file"
        ;;
      *.sql)
        note "running $file"
        docker_process_sql --database="$MARIADB_DATABASE" < "$file"
        ;;
      *.sql.gz)
        note "running $file"
        gunzip -c -- "$file" | docker_process_sql --database="$MARIADB_DATABASE"
        ;;
      *) note "ignoring $file" ;;
    esac
  done
}

initialize() {
  choose_root_password
  note 'Initializing database files'
  mariadb-install-db --datadir="$datadir" --auth-root-authentication-method=normal --skip-test-db \
    --rpm --skip-log-bin "${server[@]:1}" > /dev/null
  start_for_init
  if [ -z "${MARIADB_INITDB_SKIP_TZINFO:-${MYSQL_INITDB_SKIP_TZINFO:-}}" ]; then
    mariadb-tzinfo-to-sql --skip-write-binlog /usr/share/zoneinfo 2> /dev/null |
      MARIADB_ROOT_PASSWORD='' docker_process_sql --database=mysql
  fi
  local health
  health=$(random_word)
  account_statements "$root_password" "$health" | MARIADB_ROOT_PASSWORD='' docker_process_sql
  (umask 0077 && printf '[mariadb-client]\nport=%s\nsocket=%s\nuser=healthcheck\npassword=%s\n' \
    "$(setting port)" "$socket" "$health" > "$datadir/.my-healthcheck.cnf")
  export MARIADB_ROOT_PASSWORD=$root_password MYSQL_ROOT_PASSWORD=$root_password
  run_init_files
  stop_after_init
  note 'MariaDB init process done. Ready for start up.'
}

case "${1:-}" in
  -*) set -- mariadbd "$@" ;;
esac

if { [ "${1:-}" = mariadbd ] || [ "${1:-}" = mysqld ]; } && ! only_asks_for_help "$@"; then
  read_environment
  server=("$@")
  read_settings
  if [ "$(id -u)" = 0 ]; then
    mkdir -p -- "$datadir" "${socket%/*}"
    find -- "$datadir" "${socket%/*}" ! -user mysql -exec chown mysql: '{}' +
    HOME=/var/lib/mysql exec setpriv --reuid=mysql --regid=mysql --init-groups -- "$0" "$@"
  fi
  if [ ! -d "$datadir/mysql" ]; then
    initialize
  fi
fi

exec "$@"
