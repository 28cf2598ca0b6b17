/**
 * What a careful person would write for a Swarm: build on the first server, bring the image to the others, and let Swarm replace
 * the tasks, the new before the old, once each is healthy. A HAProxy on each server finds the tasks by DNS.
 */
import { spawn } from 'node:child_process';
import { run } from '../lab/command.ts';

type Ssh = readonly string[];

const port = '20999';

const config = `global
  stats socket /tmp/admin.sock mode 600 level admin
resolvers docker
  nameserver dns 127.0.0.11:53
  hold valid 1s
defaults
  mode http
  option redispatch
  retries 3
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend web
  bind :8080
  default_backend app
backend app
  server-template app 24 tasks.hand:3000 check inter 400 resolvers docker init-addr none
`;

/** On the first, which is a manager. */
const setUp = `
docker network create --driver overlay --attachable hand > /dev/null
docker service create --quiet --detach --name hand --network hand --endpoint-mode dnsrr --replicas 6 --env PORT=3000 \
  --health-cmd 'node -e "fetch(\\"http://127.0.0.1:3000/\\").then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"' \
  --health-interval 1s --health-start-period 10s --health-retries 3 --stop-grace-period 10s --no-resolve-image \
  --update-order start-first --update-parallelism 6 --update-monitor 1s hand:0 > /dev/null
docker service create --quiet --detach --name hand-proxy --mode global --network hand --endpoint-mode dnsrr --no-resolve-image \
  --mount type=bind,source=/srv/hand,target=/etc/hand,readonly --publish mode=host,published=${port},target=8080 \
  haproxy:3.0 haproxy -W -db -f /etc/hand/haproxy.cfg > /dev/null
`;

const build = `rm -rf /srv/hand-context; mkdir -p /srv/hand-context; tar -x -C /srv/hand-context
docker build --quiet --tag "hand:$1" /srv/hand-context > /dev/null
docker image inspect --format '{{json .RootFS.Layers}}' "hand:$1"`;

const update = `docker service update --quiet --detach --no-resolve-image --image "hand:$1" hand > /dev/null
until [ "$(docker service inspect --format '{{.UpdateStatus.State}}' hand)" = completed ]; do sleep 0.2; done`;

export async function plainSwarm(servers: readonly Ssh[], folder: string) {
  const [first, ...others] = servers;
  if (!first) throw new Error('a swarm has servers');
  for (const ssh of servers) {
    await run('ssh', [...ssh, 'mkdir -p /srv/hand && cat > /srv/hand/haproxy.cfg'], { input: config });
    await run('ssh', [...ssh, 'docker pull --quiet haproxy:3.0']);
  }
  for (const [name, text] of Object.entries({ build, update, setUp }))
    await run('ssh', [...first, `cat > /srv/hand/${name}`], { input: `set -eu\n${text}\n` });
  let number = 0;
  let known: readonly string[] = [];
  /** Without the layers that they have from the one before. */
  const bring = async () => {
    const printed = await piped(
      ['tar', '-c', '-C', folder, '.'],
      ['ssh', ...first, `sh /srv/hand/build ${number}`],
    );
    const layers: string[] = JSON.parse(printed);
    const common = layers.filter((layer, at) => layer === known[at]);
    known = layers;
    const without = common.map((layer) => layer.replace('sha256:', 'blobs/sha256/')).join(' ');
    const saving = `docker save hand:${number}${without && ` | tar --delete --file=- ${without}`}`;
    await Promise.all(
      others.map((ssh) => piped(['ssh', ...first, saving], ['ssh', ...ssh, 'docker load --quiet'])),
    );
  };
  await bring();
  await run('ssh', [...first, 'sh /srv/hand/setUp']);
  await run('ssh', [...first, `until curl -sf -o /dev/null http://127.0.0.1:${port}/; do sleep 0.5; done`]);
  return {
    port,
    deploy: async () => {
      number += 1;
      const begun = performance.now();
      await bring();
      await run('ssh', [...first, `sh /srv/hand/update ${number}`]);
      return performance.now() - begun;
    },
  };
}

/** What the second prints. */
function piped([from = '', ...fromArgs]: readonly string[], [to = '', ...toArgs]: readonly string[]) {
  const giving = spawn(from, fromArgs, { stdio: ['ignore', 'pipe', 'inherit'] });
  const taking = spawn(to, toArgs, { stdio: [giving.stdout, 'pipe', 'inherit'] });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = '';
  taking.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  taking.once('error', reject);
  taking.once('close', (code) => (code === 0 ? resolve(printed) : reject(new Error(`plain Swarm: ${code}`))));
  return promise;
}
