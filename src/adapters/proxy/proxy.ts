/**
 * HAProxy on a server: the one program that listens to the world. Owns its container, its folder and its base
 * configuration; refuses to publish ports through Docker, which would walk around the server's firewall. It runs on
 * the server's own network, so that addresses of visitors are theirs. What stands behind it is `fronts.ts`.
 */
import type { Remote } from '../../remote/remote.ts';
import { baseConfig, holdLua } from './base-config.ts';
import { defaultCertificateInside, proxyContainer, proxyFolder } from './places.ts';
import { library, lockProxy } from './server-program.ts';

export { proxyContainer };

const image = 'haproxy:3.0';

/** Raised when what the container is started with changes: it is then made anew. */
const version = '2';

/** Whether it had to be done. */
export async function ensureProxy(remote: Remote, signal: AbortSignal): Promise<boolean> {
  const done = await remote.script(container, [proxyContainer, image, proxyFolder, version], {
    signal,
    timeoutMs: 300_000,
  });
  return done.toString().trim() !== 'kept';
}

export async function removeProxy(remote: Remote): Promise<void> {
  await remote.script(removal, [proxyContainer, proxyFolder]);
}

const folders = `
umask 022
mkdir -p "$folder/run" "$folder/certificates" "$folder/config"
chmod 700 "$folder/run" "$folder/certificates"
rm -f "$folder/haproxy.cfg"
for each in hosts.map policies.map settings.map; do
  [ -e "$folder/config/$each" ] || : > "$folder/config/$each"
done
[ -e "$folder/config/certificates.list" ] || echo ${defaultCertificateInside} > "$folder/config/certificates.list"
changed=
write() {
  cat > "$folder/config/.$1.new"
  if cmp -s "$folder/config/.$1.new" "$folder/config/$1"; then rm "$folder/config/.$1.new"; return 0; fi
  changed=yes
  sync "$folder/config/.$1.new"
  mv -fT "$folder/config/.$1.new" "$folder/config/$1"
}
write hold.lua <<'END'
${holdLua}END
write 00-base.cfg <<'END'
${baseConfig}END
`;

/** Until an application has one of its own: a connection by TLS is answered, though not trusted. */
const certificate = `
default=$folder/certificates/default.pem
if [ ! -e "$default" ]; then (
  umask 077
  half=$folder/.default
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=slipway.invalid \\
    -keyout "$half.key" -out "$half.crt" 2> /dev/null
  cat "$half.crt" "$half.key" > "$half.pem"
  rm "$half.crt" "$half.key"
  mv -T "$half.pem" "$default"
) fi
`;

/**
 * A base that has changed is taken over by a reload; the mark is set once that has succeeded, so that one who was killed
 * before it is followed by one who does it. KILL: the master has to end workers that run as another user. `always`: where a Docker
 * without live restore, as on a cluster, starts after a crash, it stops what runs, and takes that for somebody's wish.
 */
const container = `
name=$1 image=$2 folder=$3 version=$4
mkdir -p "$folder"
${lockProxy}${folders}${certificate}
loaded=$folder/run/base-loaded
[ -z "$changed" ] || rm -f "$loaded"
seen=$(docker inspect --format '{{.State.Running}} {{index .Config.Labels "slipway.version"}} {{.HostConfig.RestartPolicy.Name}}' "$name" 2> /dev/null || true)
if [ "\${seen% *}" = "true $version" ]; then
  [ "\${seen##* }" = always ] || docker update --restart always "$name" > /dev/null
  if [ -e "$loaded" ]; then echo kept; exit 0; fi
  perl -e '${library}my $wrong = checked(); $wrong = reload() unless defined $wrong; die $wrong if defined $wrong'
  : > "$loaded"
  echo reloaded
  exit 0
fi
docker image inspect "$image" > /dev/null 2>&1 || docker pull --quiet "$image" > /dev/null
docker rm --force "$name" > /dev/null 2>&1 || true
rm -f "$folder/run/"*.sock
set --
[ ! -s /proc/net/if_inet6 ] || set -- --env SLIPWAY_IPV6=yes
docker run --detach --name "$name" --label slipway=proxy --label "slipway.version=$version" "$@" \\
  --network host --user root --restart always --stop-timeout 2 \\
  --log-opt max-size=10m --log-opt max-file=3 \\
  --cap-drop ALL --cap-add NET_BIND_SERVICE --cap-add SETUID --cap-add SETGID --cap-add CHOWN --cap-add DAC_OVERRIDE \\
  --cap-add KILL --security-opt no-new-privileges \\
  --volume "$folder:/etc/slipway:ro" --volume "$folder/run:/run/slipway" \\
  "$image" haproxy -W -db -S /run/slipway/master.sock,mode,600 -f /etc/slipway/config > /dev/null
tries=0
until docker exec "$name" true 2> /dev/null && [ -S "$folder/run/admin.sock" ] && [ -S "$folder/run/master.sock" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 50 ]; then docker logs --tail 15 "$name" >&2; exit 1; fi
  sleep 0.2
done
: > "$loaded"
echo made
`;

const removal = `
command -v docker > /dev/null && docker rm --force "$1" > /dev/null 2>&1 || true
rm -rf "$2"
`;
