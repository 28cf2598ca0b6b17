/** The scripts behind the engine of PostgreSQL. Constant texts: names and paths come as arguments, statements of ours too. */
import { detectFormat, waitFor } from '../file-scripts.ts';

/**
 * In the container; `$1` the statements for the content stats. One transaction exports its snapshot and stays open while
 * pg_dump and the stats, side by side, work in it. Descriptor 5 is where the dump goes. psql does not stop when a
 * command of its shell fails: that both have gone well is a word of its own.
 */
export const postgresDumpScript = `
export PGUSER=app PGDATABASE=app PGAPPNAME=slipway PGOPTIONS='-c client_connection_check_interval=1000'
export SLIPWAY_STATS="$1"
SLIPWAY_WORK=$(cat <<'END'
pg_dump --no-password --format=custom --compress=0 --snapshot="$SLIPWAY_SNAPSHOT" >&5 &
dump=$!
stats=0
printf '%s' "$SLIPWAY_STATS" | psql -XqAt -w -v ON_ERROR_STOP=1 -v snapshot="$SLIPWAY_SNAPSHOT" -f - >&2 5>&- || stats=$?
code=0
wait "$dump" || code=$?
if [ "$code $stats" = '0 0' ]; then echo both; else echo "@code pg_dump $code, stats $stats" >&2; fi
END
)
export SLIPWAY_WORK
exec 5>&1
ended=$(psql -XqAt -w -v ON_ERROR_STOP=1 -f /dev/fd/4 4<<'END'
begin isolation level repeatable read, read only;
select pg_export_snapshot() as snapshot \\gset
\\setenv SLIPWAY_SNAPSHOT :snapshot
\\! eval "$SLIPWAY_WORK"
commit;
END
)
[ "$ended" = both ]
`;

/** For scripts on the server. `$live` is the service's container, `$scratch` the scratch one. */
const inBoth = `
in_live() { docker exec -i "$live" "$@"; }
in_scratch() { docker exec -i "$scratch" "$@"; }
# What reads a file of others has no rights in there: it could otherwise change the tools that come after it.
as_nobody() { docker exec -i --user 65534:65534 "$scratch" "$@"; }
is_ready() { docker exec "$1" pg_isready --quiet --host=127.0.0.1 --username=app; }
quiet_psql() { local where=$1; shift; docker exec -i "$where" psql -XqAt -w -v ON_ERROR_STOP=1 -U app "$@"; }
# The cluster's roles, without passwords: what is loaded may belong to any of them.
copy_roles() {
  in_live pg_dumpall -U app -w --roles-only --no-role-passwords </dev/null |
    { grep -vE '^(CREATE|ALTER) ROLE app[ ;]' || :; } | quiet_psql "$scratch" -d app >/dev/null
}
`;

/** `$1` live, `$2` scratch, `$3` file, `$4` the statements for the content stats. */
export const postgresVerifyScript = `
live=$1 scratch=$2 file=$3 stats=$4
${detectFormat}${waitFor}${inBoth}
wait_for "$scratch"
copy_roles
detect_format "$file"
reading "$file"
"\${unpack[@]}" <&8 | as_nobody pg_restore -w -U app -d app --exit-on-error
read_done
quiet_psql "$scratch" -d app -f - <<<"$stats"
`;

/** `$2` the scratch container. */
export const haltVerify = 'docker kill "$2" >/dev/null';

/**
 * As the live one: encoding, collation, owner and settings. `:staging` is its name. In a list of names, the setting is
 * kept with its quotes; quoted again it would be one name.
 */
const createStaging = `
select format('create database %I template template0 owner %I encoding %L lc_collate %L lc_ctype %L', :'staging',
  pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, datctype) from pg_database where datname = 'app'
\\gexec
select format(case when setrole = 0 then 'alter database %1$I set %3$I to %4$s' else 'alter role %2$I in database %1$I set %3$I to %4$s' end,
  :'staging', coalesce(pg_get_userbyid(nullif(setrole, 0)), ''), split_part(item, '=', 1),
  case when split_part(item, '=', 1) in ('search_path', 'temp_tablespaces', 'local_preload_libraries', 'session_preload_libraries')
    then substr(item, strpos(item, '=') + 1) else quote_literal(substr(item, strpos(item, '=') + 1)) end)
from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase, unnest(setconfig) item where d.datname = 'app'
\\gexec
`;

/** With `name`; a load that is still under way in it ends with that. */
export const dropStatement = 'set client_min_messages = error; drop database if exists :"name" with (force);';

/** `$1` live, `$2` scratch or empty, `$4` staging. */
export const haltLoad = `if [ -n "$2" ]; then docker kill "$2" >/dev/null || :; fi
docker exec -i "$1" psql -XqAt -w -U app -d postgres -v name="$4" -f - <<'END'
${dropStatement}
END
`;

const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = :'name' and pid <> pg_backend_pid();`;

/**
 * A file of others is run by psql with its own commands locked: `\\!` is a shell. Newer dumps lock them themselves, by a
 * key of their own, which in a session that is locked already would be an error; those lines are emptied, so that the
 * numbers of lines stay, and so is one that connects to where it is. The lock stands on the first line of the file for the same reason. Where psql is too old to know
 * it, the shell it starts belongs to nobody, in a container without network and without a password that counts.
 */
const withoutOwnLocks = String.raw`
use strict; use warnings; binmode STDIN; binmode STDOUT; my ($held, $is_line) = (q{}, 1);
sub put { my $done = 0; while ($done < length $_[0]) { my $n = syswrite STDOUT, $_[0], length($_[0]) - $done, $done; die qq{cannot write: $!\n} unless defined $n; $done += $n } }
sub lines { my ($text) = @_; my $from = $is_line ? 0 : index($text, qq{\n}) + 1;
  my $rest = substr $text, $from; $rest =~ s/^\\(?:(?:un)?restrict [A-Za-z0-9]{1,200}|connect app)\r?$//mg; put(substr($text, 0, $from) . $rest); $is_line = 1 }
while (1) { my $n = sysread STDIN, $held, 1 << 18, length $held; die qq{cannot read: $!\n} unless defined $n; last unless $n;
  my $end = rindex($held, qq{\n}) + 1;
  if ($end > 0) { lines(substr $held, 0, $end, q{}) } elsif (length $held > 1 << 20) { put($held); $held = q{}; $is_line = 0 } }
if ($is_line) { lines($held) } else { put($held) }
`;

const runLocked = `
locked() {
  if quiet_psql "$scratch" -d app -c '\\restrict slipway' </dev/null >/dev/null 2>&1; then
    printf '\\\\restrict %s \\\\\\\\ ' "$(tr -d - </proc/sys/kernel/random/uuid)"
  fi
  perl -e '${withoutOwnLocks}'
}
`;

/**
 * `$1` live, `$2` scratch, `$3` file, `$4` staging, `$5` empty or copy, `$6` dump or upload. A dump of ours is loaded straight
 * into the new database. What is in an upload nobody knows: it may change databases, roles and passwords. So it is run
 * in the scratch cluster, where none of that reaches the live one, and what has become of `app` there is taken over.
 * An upload may name roles that are known where it comes from only. They are made there, and everything belongs to `app`
 * in the end then.
 */
export const postgresLoadScript = `
live=$1 scratch=$2 file=$3 staging=$4 base=$5 content=$6
${detectFormat}${waitFor}${inBoth}${runLocked}
detect_format "$file"
if [ "$content" = dump ] && [ "$inner" != custom ]; then echo 'this is no dump of pg_dump' >&2; exit 1; fi
quiet_psql "$live" -d postgres -v name="$staging" -f - <<'END'
${dropStatement}
END
if [ "$content" = upload ]; then
  wait_for "$scratch"
  copy_roles
  if [ "$base" = copy ]; then
    echo '@stage Copying the live data.'
    in_live pg_dump -w -U app -d app --format=custom --compress=0 </dev/null | in_scratch pg_restore -w -U app -d app --exit-on-error
  fi
  known=$(quiet_psql "$live" -d postgres -c 'select rolname from pg_roles order by 1' </dev/null)
  echo '@stage Loading the file.'
  reading "$file"
  if [ "$inner" = custom ] || [ "$inner" = pgtar ]; then
    format=custom
    if [ "$inner" = pgtar ]; then format=tar; fi
    "\${unpack[@]}" <&8 | as_nobody pg_restore -w -U app -d app --format="$format" --no-owner --no-acl --exit-on-error
  else
    # In pieces: a line of a gigabyte would be held in memory, outside of any container.
    { "\${unpack[@]}" <"$file" | LC_ALL=C fold -b -w 4096 | grep -aoE '^(ALTER .* OWNER TO|GRANT .* TO|REVOKE .* FROM) ("[^"]+"|[A-Za-z_][A-Za-z0-9_$]*);' || :; } |
      sed -E 's/^.* ("[^"]+"|[A-Za-z0-9_$]+);$/\\1/' | sort -u |
      while read -r role; do
        case $role in
          '"'*) role=\${role#?}; role=\${role%?} ;;
          *) role=$(printf %s "$role" | tr A-Z a-z) ;;
        esac
        quiet_psql "$scratch" -d app -v role="$role" -f - <<'END'
select format('create role %I', :'role') where :'role' not in ('public', 'current_user', 'session_user')
  and not exists (select from pg_roles where rolname = :'role')
\\gexec
END
      done
    "\${unpack[@]}" <&8 | locked | as_nobody psql -Xq -w -v ON_ERROR_STOP=1 --echo-errors -U app -d app -o /dev/null -f -
  fi
  read_done
  others=$(quiet_psql "$scratch" -d app -c "select string_agg(datname, ', ') from pg_database where datname not in ('app', 'postgres', 'template0', 'template1')" </dev/null)
  if [ -n "$others" ]; then echo "ERROR: the file creates other databases ($others); only the database app is taken over" >&2; exit 1; fi
  owners=()
  now=$(quiet_psql "$scratch" -d postgres -c 'select rolname from pg_roles order by 1' </dev/null)
  if [ -n "$(comm -13 <(echo "$known" | sort) <(echo "$now" | sort))" ]; then owners=(--no-owner --no-acl); fi
  echo '@stage Copying the result.'
fi
quiet_psql "$live" -d postgres -v staging="$staging" -f - <<'END' >/dev/null
${createStaging}
END
if [ "$content" = upload ]; then
  in_scratch pg_dump -w -U app -d app --format=custom --compress=0 "\${owners[@]}" </dev/null |
    docker exec -i -e PGOPTIONS='-c synchronous_commit=off' "$live" pg_restore -w -U app -d "$staging" "\${owners[@]}" --exit-on-error
else
  reading "$file"
  "\${unpack[@]}" <&8 | docker exec -i -e PGOPTIONS='-c synchronous_commit=off' "$live" pg_restore -w -U app -d "$staging" --exit-on-error
  read_done
fi
echo '@stage Gathering statistics for the planner.'
quiet_psql "$live" -d "$staging" -c analyze </dev/null
quiet_psql "$live" -d postgres -c checkpoint </dev/null
`;

/**
 * For psql in `postgres`, with `staging` and `previous`. Both renames are one transaction: there is no moment without `app`,
 * and none with half of it.
 */
export const swapStatements = `
select exists (select from pg_database where datname = :'staging') as has_staging,
  exists (select from pg_database where datname = :'previous') as has_previous \\gset
\\if :has_staging
\\set name app
${terminate}
\\set name :staging
${terminate}
begin;
alter database app rename to :"previous";
alter database :"staging" rename to app;
commit;
\\elif :has_previous
\\else
do $$ begin raise 'there is no staging copy'; end $$;
\\endif
`;

/**
 * In the container; `$1` the statements, then their `name`, `staging` and `previous`. Tried for some seconds: someone may
 * come back between the end of a connection and the rename.
 */
export const statementsScript = `
tries=20
until psql -XqAt -w -v ON_ERROR_STOP=1 -v name="$2" -v staging="$3" -v previous="$4" -U app -d postgres -f /dev/fd/4 4<<END >/dev/null
$1
END
do
  tries=$((tries - 1))
  if [ "$tries" = 0 ]; then exit 1; fi
  sleep 0.25
done
`;
