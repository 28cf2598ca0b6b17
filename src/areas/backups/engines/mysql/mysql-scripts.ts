/** The scripts behind the engines of MariaDB and MySQL. Constant texts; the names of the programs come as arguments. */
import { detectFormat, waitFor } from '../file-scripts.ts';

/** What the two call the same things. */
export interface MysqlFlavour {
  readonly client: string;
  readonly dump: string;
  /** Of the variables in the container: `MARIADB`. */
  readonly prefix: string;
  /** Of the dump, separated by blanks. */
  readonly options: string;
  /** Statements between which nobody can commit. */
  readonly lock: string;
  readonly unlock: string;
}

export const dumpOptions =
  '--single-transaction --quick --routines --events --triggers --hex-blob --default-character-set=utf8mb4 --no-tablespaces --skip-dump-date';

/**
 * In the container: `$1` client, `$2` dump, `$3` prefix, `$4` options of the dump, `$5` lock, `$6` unlock, `$7` and `$8`
 * the statements for the content stats. Neither database can hand its snapshot to another connection. So commits are held up
 * for the moment in which the dump and the stats begin their transactions: what both see then is the same. That they
 * have begun shows in the list of transactions; one that has ended by then had begun too.
 */
export const mysqlDumpScript = `
export SLIPWAY_CLIENT="$1" SLIPWAY_DUMP="$2" SLIPWAY_OPTIONS="$4" SLIPWAY_STATS="$7
START TRANSACTION WITH CONSISTENT SNAPSHOT;
$8
COMMIT;"
eval "export MYSQL_PWD=\\"\\$$3_ROOT_PASSWORD\\""
SLIPWAY_WORK=$(cat <<'END'
cd /proc
# Whoever is connected already is none of the two, whatever they have begun.
oldest=$("$SLIPWAY_CLIENT" -uroot --protocol=socket -NBe 'SELECT CONNECTION_ID()' 5>&- 6>&-)
runs() { [ -d "$1" ] && ! grep -q '^State:.Z' "$1/status" 2>/dev/null; }
( code=0; "$SLIPWAY_DUMP" -uroot --protocol=socket $SLIPWAY_OPTIONS app >&5 6>&- || code=$?; echo "dump $code" >&6 ) &
dump=$!
( code=0; printf '%s' "$SLIPWAY_STATS" | "$SLIPWAY_CLIENT" -uroot --protocol=socket -NB --raw app >&2 5>&- 6>&- || code=$?; echo "stats $code" >&6 ) &
stats=$!
tries=300
while [ "$tries" -gt 0 ]; do
  alive=0
  if runs "$dump"; then alive=$((alive + 1)); fi
  if runs "$stats"; then alive=$((alive + 1)); fi
  begun=$("$SLIPWAY_CLIENT" -uroot --protocol=socket -NBe "SELECT COUNT(*) FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.user = 'root' AND p.db = 'app' AND p.id > $oldest" 5>&- 6>&-)
  if [ "$begun" -ge "$alive" ]; then break; fi
  tries=$((tries - 1))
  sleep 0.05
done
if [ "$tries" -gt 0 ]; then echo 'begun 0' >&6; else echo 'begun 1' >&6; fi
END
)
export SLIPWAY_WORK
exec 5>&1
ended=$({ printf '%s\\n' 'SET SESSION lock_wait_timeout = 60;' "$5" '\\! eval "$SLIPWAY_WORK"' "$6" | "$SLIPWAY_CLIENT" -uroot --protocol=socket -NB >&2; } 6>&1)
ended=$(printf '%s\\n' "$ended" | sort | tr '\\n' ' ')
if [ "$ended" = 'begun 0 dump 0 stats 0 ' ]; then exit 0; fi
echo "@code $ended" >&2
exit 1
`;

/** For scripts on the server. The password is in the container's environment, and stays there. */
const inScratch = `
client=$1 dump=$2 prefix=$3
shift 3
as_root='eval "export MYSQL_PWD=\\"\\$$1_ROOT_PASSWORD\\""; shift; exec "$@"'
root_in() { local where=$1; shift; docker exec -i "$where" sh -euc "$as_root" sh "$prefix" "$@"; }
# The one that makes a new data folder listens on its socket alone.
is_ready() { docker exec "$1" "$client"-admin --protocol=tcp --host=127.0.0.1 --connect-timeout=2 ping; }
# The client has commands of its own, among them a shell and others that read files; in this mode it knows none of them.
loading='--binary-mode --local-infile=0 --default-character-set=utf8mb4 --max-allowed-packet=1G'
if [ "$client" = mysql ]; then is_ready() { docker exec "$1" mysqladmin --protocol=tcp --host=127.0.0.1 --connect-timeout=2 ping; }; fi
`;

export const mysqlReadyScript = `${inScratch}${waitFor}
wait_for "$1"
`;

/** For the verification; in a load the scratch container is `$6`. */
export const haltVerify = 'docker kill "$4" >/dev/null';
export const haltLoad = 'docker kill "$6" >/dev/null';

/** `$4` scratch, `$5` file, `$6` the statements for the content stats. */
export const mysqlVerifyScript = `${inScratch}
scratch=$1 file=$2 stats=$3
${detectFormat}${waitFor}
wait_for "$scratch"
detect_format "$file"
if [ "$inner" != sql ]; then echo 'this is no dump of SQL' >&2; exit 1; fi
reading "$file"
"\${unpack[@]}" <&8 | root_in "$scratch" "$client" -uroot --protocol=socket $loading app
read_done
root_in "$scratch" "$client" -uroot --protocol=socket -NB --raw app <<<"$stats"
`;

/**
 * `$4` options of a dump, `$5` live, `$6` scratch, `$7` file, `$8` empty or copy, `$9` dump or upload. An upload is run by
 * a user who may do everything in `app` and nothing outside of it: what changes the database or the accounts fails
 * instead of being lost without a word. In the end the accounts get the passwords of the live ones, as those are stored:
 * until then the scratch server has its own. Then it is shut down: its folder is whole then.
 */
export const mysqlLoadScript = `${inScratch}
options=$1 live=$2 scratch=$3 file=$4 base=$5 content=$6
${detectFormat}${waitFor}
run_sql() { root_in "$scratch" "$client" -uroot --protocol=socket -NB "$@"; }
accounts_of_live() {
  local account shown hex=
  if [ "$client" = mysql ]; then hex='SET print_identified_with_as_hex = ON; '; fi
  for account in "app@'%'" root@localhost; do
    shown=$(root_in "$live" "$client" -uroot --protocol=socket -NB --raw -e "\${hex}SHOW CREATE USER $account" </dev/null)
    case $shown in
      'CREATE USER '*) printf 'ALTER USER %s;\n' "\${shown#CREATE USER }" ;;
      *) echo 'the live database does not tell its accounts' >&2; return 1 ;;
    esac
  done
}
detect_format "$file"
if [ "$inner" != sql ]; then refuse 'an archive of pg_dump'; fi
wait_for "$scratch"
# The names of time zones, as the live one has them: to make them anew takes minutes on a slow disk.
root_in "$live" "$dump" -uroot --protocol=socket --single-transaction --skip-lock-tables --no-tablespaces mysql time_zone time_zone_leap_second \\
  time_zone_name time_zone_transition time_zone_transition_type </dev/null | run_sql mysql
if [ "$base" = copy ]; then
  echo '@stage Copying the live data.'
  root_in "$live" "$dump" -uroot --protocol=socket $options app </dev/null |
    run_sql $loading app
fi
echo '@stage Loading the file.'
reading "$file"
if [ "$content" = dump ]; then
  "\${unpack[@]}" <&8 | run_sql $loading app
else
  run_sql <<'END'
CREATE USER slipway_load@localhost;
GRANT ALL ON app.* TO slipway_load@localhost;
END
  # What it is called to make objects of other owners differs between versions.
  for right in 'SET USER' 'BINLOG ADMIN' SET_USER_ID SET_ANY_DEFINER SYSTEM_VARIABLES_ADMIN; do
    run_sql <<<"GRANT $right ON *.* TO slipway_load@localhost" 2>/dev/null || :
  done
  "\${unpack[@]}" <&8 | docker exec -i --user 65534:65534 "$scratch" "$client" -uslipway_load --protocol=socket $loading app
  run_sql <<<'DROP USER slipway_load@localhost'
fi
read_done
echo '@stage Closing the new data folder.'
{ accounts_of_live; echo 'SHUTDOWN;'; } | run_sql
if [ "$(timeout 600 docker wait "$scratch")" != 0 ]; then
  docker logs --tail 15 "$scratch" >&2
  echo 'the database did not close its data folder' >&2
  exit 1
fi
`;
