/** The scripts behind the engine of Redis. Constant texts; the password stays in the container's environment. */
import { detectCompression } from '../file-scripts.ts';

/**
 * In the container. Redis makes a snapshot for us as for a replica. `redis-check-rdb` reads the very bytes that leave,
 * and says what is in them: by the time anyone could ask Redis, its data has moved on. A stream that breaks off fails
 * there. The check is the first to be ended where the memory of the container runs short, and not Redis itself.
 */
export const redisDumpScript = `
export REDISCLI_AUTH="$REDIS_PASSWORD"
echo 1000 >/proc/self/oom_score_adj
exec 4>&1
{ redis-cli --rdb - 4>&- || echo "@code redis-cli $?" >&2; } | tee /dev/fd/4 | {
  code=0
  said=$(redis-check-rdb /dev/stdin) || code=$?
  cat >/dev/null
  if [ "$code" != 0 ]; then printf '%s\\n' "$said" >&2; exit "$code"; fi
  printf '%s\\n' "$said" | sed -n -e 's/^\\[info\\] \\([0-9]*\\) keys read$/@stat ["keys",\\1]/p' \\
    -e 's/^\\[info\\] \\([0-9]*\\) expires$/@stat ["keys with a time to live",\\1]/p' >&2
  found=$(printf '%s\\n' "$said" | sed -n 's/.*Selecting DB ID \\([0-9]*\\)$/\\1/p' | sort -nu | tr '\\n' ' ')
  echo "@stat [\\"databases\\",\\"\${found% }\\"]" >&2
}
`;

/**
 * On the server, behind it. Redis marks the end of a snapshot of unknown length by forty characters, which `redis-cli`
 * takes off a file but leaves on its standard output. They would be taken for commands where the snapshot is the base of
 * an append-only file. Before them is the end of the RDB itself: 0xff and its checksum.
 */
const stripEofMark = String.raw`
use strict; use warnings; binmode STDIN; binmode STDOUT; my $held = q{};
sub put { my $done = 0; while ($done < length $_[0]) { my $n = syswrite STDOUT, $_[0], length($_[0]) - $done, $done; die qq{cannot write: $!\n} unless defined $n; $done += $n } }
while (1) { my $n = sysread STDIN, $held, 1 << 18, length $held; die qq{cannot read: $!\n} unless defined $n; last unless $n;
  put(substr $held, 0, length($held) - 64, q{}) if length $held > 64 }
$held =~ s/(\xff.{8})[0-9a-f]{40}\z/$1/s; put($held);
print STDERR qq{\@stat ["checksum of the snapshot","}, unpack(q{H*}, substr $held, -8), qq{"]\n} if length $held >= 8;
`;

/** Its arguments are the command whose output it is. */
export const withoutEofMark = `set -o pipefail
"$@" | perl -e '${stripEofMark}'
`;

/** `$1` the file, `$2` the folder of an empty volume. */
export const placeScript = `${detectCompression}
detect_compression "$1"
reading "$1"
"\${unpack[@]}" <&8 >"$2/dump.rdb"
read_done
echo "@stat [\\"checksum of the snapshot\\",\\"$(tail -c 8 -- "$2/dump.rdb" | as_hex)\\"]"
`;

/** `$1` a container. Where it ends instead, its log says why. */
export const redisReadyScript = `
tries=2400
until [ "$(docker exec "$1" sh -euc 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli ping' 2>/dev/null)" = PONG ]; do
  tries=$((tries - 1))
  if [ "$tries" = 0 ] || [ "$(docker inspect --format '{{.State.Running}} {{.RestartCount}}' "$1")" != 'true 0' ]; then
    docker logs --tail 15 "$1" >&2 || :
    echo 'Redis did not start with the data' >&2
    exit 1
  fi
  sleep 0.25
done
`;

/** `$1` a container: how many keys it holds, a line for each database. */
export const keyspaceScript = `${redisReadyScript}
docker exec "$1" sh -euc 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli info keyspace'
`;

/**
 * `$1` the file, `$2` where it is filled, `$3` what it is called then, `$4` the live folder, `$5` the image, `$6` the
 * staging name, `$7` memory in MB. With `appendonly yes`, Redis reads its append-only files and no `dump.rdb`; the snapshot
 * becomes the base of such files. What is behind its end is cut off: it would be read as commands. The check repeats
 * texts of the file: its own word is the last of them.
 */
export const redisLoadScript = `${detectCompression}
if [ -d "$3" ]; then exit 0; fi
rm -rf --one-file-system -- "$2"
mkdir -p -- "$2/appendonlydir"
base=$2/appendonlydir/appendonly.aof.1.base.rdb
detect_compression "$1"
first=$({ "\${unpack[@]}" <"$1" 2>/dev/null || :; } | head -c 9 || :)
if ! [[ "$first" =~ ^REDIS[0-9]{4}$ ]]; then echo '@refused no snapshot of Redis'; exit 1; fi
reading "$1"
"\${unpack[@]}" <&8 >"$base"
read_done
docker rm -f "slipway-check-$6" >/dev/null 2>&1 || :
if ! said=$(docker run --rm -i --pull never --name "slipway-check-$6" --label "slipway.mark=$6" --network none --log-driver none \\
  --memory "$7m" --memory-swap "$7m" --pids-limit 64 --cap-drop ALL --security-opt no-new-privileges --read-only \\
  --user 65534:65534 --entrypoint redis-check-rdb "$5" /dev/stdin <"$base" 2>&1 | tail -c 65536 | tr -d '\\0'); then
  printf '%s\\n' "$said" >&2
  exit 1
fi
whole=$(printf '%s\\n' "$said" | sed -n 's/^\\[offset \\([0-9]*\\)\\] .*RDB looks OK.*/\\1/p' | tail -n 1)
if [ -z "$whole" ]; then printf '%s\\n' "$said" >&2; exit 1; fi
truncate -s "$whole" -- "$base"
echo 'file appendonly.aof.1.base.rdb seq 1 type b' >"$2/appendonlydir/appendonly.aof.manifest"
chmod 700 -- "$2/appendonlydir"
chmod 600 -- "$2"/appendonlydir/*
chown -R --reference="$4" -- "$2"
chmod --reference="$4" -- "$2"
sync -f -- "$2"
mv -T -- "$2" "$3"
sync -- "\${3%/*}"
`;
