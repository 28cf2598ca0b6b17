/**
 * HAProxy on a server: the one program that listens to the world. Owns its container, its folder and its first
 * configuration; refuses to publish ports through Docker, which would walk around the server's firewall. It runs on
 * the server's own network, so that addresses of visitors are theirs.
 */
import type { Remote } from '../../remote/remote.ts';

export const proxyContainer = 'slipway-proxy';
const image = 'haproxy:3.0';
const folder = '/var/lib/slipway/proxy';

/** Raised when what the container is started with changes: it is then made anew. */
const version = '1';

const config = `# Written by Slipway. Changes are made through the runtime socket; this is what it starts with.
global
  log stdout format raw local0 notice
  user haproxy
  group haproxy
  stats socket /run/slipway/admin.sock mode 600 level admin expose-fd listeners
  ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets

defaults
  mode http
  log global
  option dontlognull
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout http-request 10s
  timeout tunnel 1h

frontend web
  bind :80,:::80 v6only
  bind :443,:::443 v6only ssl crt /etc/slipway/certificates/ alpn h2,http/1.1
  http-request return status 404 content-type text/plain string "No application answers to this name.\\n"
`;

/** Whether it had to be done. */
export async function ensureProxy(remote: Remote, signal: AbortSignal): Promise<boolean> {
  await remote.script(folders, [folder], { signal });
  const file = `${folder}/haproxy.cfg`;
  const before = await remote.readFile(file);
  if (before === undefined) await remote.writeFile(file, config, { mode: 0o644 });
  await remote.script(certificate, [`${folder}/certificates/default.pem`], { signal });
  const done = await remote.script(container, [proxyContainer, image, folder, version], {
    signal,
    timeoutMs: 300_000,
  });
  return done.toString().trim() !== 'kept' || before === undefined;
}

export async function removeProxy(remote: Remote): Promise<void> {
  await remote.script(removal, [proxyContainer, folder]);
}

const folders = `
umask 022
mkdir -p "$1" "$1/run" "$1/certificates"
chmod 700 "$1/run" "$1/certificates"
`;

/** Until an application has one of its own: a connection by TLS is answered, though not trusted. */
const certificate = `
[ ! -e "$1" ] || exit 0
umask 077
half=$1.half
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=slipway.invalid \\
  -keyout "$half.key" -out "$half.crt" 2> /dev/null
cat "$half.crt" "$half.key" > "$half"
rm "$half.crt" "$half.key"
mv -T "$half" "$1"
`;

const container = `
name=$1 image=$2 folder=$3 version=$4
seen=$(docker inspect --format '{{.State.Running}} {{index .Config.Labels "slipway.version"}}' "$name" 2> /dev/null || true)
if [ "$seen" = "true $version" ]; then echo kept; exit 0; fi
docker image inspect "$image" > /dev/null 2>&1 || docker pull --quiet "$image" > /dev/null
docker rm --force "$name" > /dev/null 2>&1 || true
docker run --detach --name "$name" --label slipway=proxy --label "slipway.version=$version" \\
  --network host --user root --restart unless-stopped --log-opt max-size=10m --log-opt max-file=3 \\
  --cap-drop ALL --cap-add NET_BIND_SERVICE --cap-add SETUID --cap-add SETGID --cap-add CHOWN --cap-add DAC_OVERRIDE \\
  --security-opt no-new-privileges \\
  --volume "$folder/haproxy.cfg:/usr/local/etc/haproxy/haproxy.cfg:ro" \\
  --volume "$folder/certificates:/etc/slipway/certificates:ro" --volume "$folder/run:/run/slipway" \\
  "$image" > /dev/null
tries=0
until docker exec "$name" true 2> /dev/null && [ -S "$folder/run/admin.sock" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 50 ]; then docker logs --tail 15 "$name" >&2; exit 1; fi
  sleep 0.2
done
echo made
`;

const removal = `
command -v docker > /dev/null && docker rm --force "$1" > /dev/null 2>&1 || true
rm -rf "$2"
`;
