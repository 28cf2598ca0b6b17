/**
 * What a careful person would write: one script over a warm `ssh` that builds, starts the new container beside the old,
 * waits for it, gives it the requests through HAProxy's socket, waits for the old one's last request and stops it.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lab/command.ts';

const config = `global
  stats socket /run/hand/admin.sock mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend web
  bind :20999
  default_backend app
backend app
`;

const setUp = `
mkdir -p /srv/hand/run /srv/hand/context /srv/hand/fronts
docker network create --subnet 198.19.255.0/24 hand > /dev/null
docker run -d --name hand-proxy --network host --user root -v /srv/hand:/etc/hand -v /srv/hand/run:/run/hand haproxy:3.0 haproxy -W -db -f /etc/hand/haproxy.cfg -f /etc/hand/fronts > /dev/null
`;

const deploy = `set -eu
number=$1; old=$((number - 1)); slot=$((10 + number % 200)); address=198.19.255.$slot; name=hand-$number
rm -rf /srv/hand/context; mkdir -p /srv/hand/context; tar -x -C /srv/hand/context
DOCKER_BUILDKIT=1 docker build --quiet --tag "hand:$number" /srv/hand/context > /dev/null
docker run -d --init --name "$name" --network hand --ip "$address" --cap-drop ALL --security-opt no-new-privileges --pids-limit 512 --restart unless-stopped --env PORT=3000 "hand:$number" > /dev/null
until curl -sf -o /dev/null "http://$address:3000/"; do sleep 0.1; done
ask() { perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => "/srv/hand/run/admin.sock") or die; print $s $ARGV[0], "\\n"; print while <$s>' "$1"; }
ask "add server app/$name $address:3000; enable server app/$name" > /dev/null
curl -sf -o /dev/null http://127.0.0.1:20999/
if docker inspect "hand-$old" > /dev/null 2>&1; then
  ask "set server app/hand-$old state drain" > /dev/null
  while ask 'show stat' | grep "^app,hand-$old," | cut -d, -f5 | grep -qv '^0$'; do sleep 0.1; done
  ask "set server app/hand-$old state maint; del server app/hand-$old" > /dev/null
  docker stop --time 5 "hand-$old" > /dev/null
  docker rm "hand-$old" > /dev/null
  docker rmi "hand:$old" > /dev/null 2>&1 || true
fi
`;

/** With a listener of its own, which takes a reload. */
const deployNew = `set -eu
number=$1; address=198.19.255.$((220 + number)); name=hand-new-$number; port=$((20500 + number)); context=/srv/hand/context-$number
mkdir -p "$context"; tar -x -C "$context"
DOCKER_BUILDKIT=1 docker build --quiet --tag "hand-new:$number" "$context" > /dev/null
docker run -d --init --name "$name" --network hand --ip "$address" --cap-drop ALL --security-opt no-new-privileges --pids-limit 512 --restart unless-stopped --env PORT=3000 "hand-new:$number" > /dev/null
until curl -sf -o /dev/null "http://$address:3000/"; do sleep 0.1; done
printf 'frontend new-%s\\n  bind :%s\\n  default_backend new-%s\\nbackend new-%s\\n  server one %s:3000\\n' "$number" "$port" "$number" "$number" "$address" > "/srv/hand/fronts/$number.cfg"
flock /srv/hand/lock docker kill --signal USR2 hand-proxy > /dev/null
until curl -sf -o /dev/null "http://127.0.0.1:$port/"; do sleep 0.1; done
`;

export type ByHand = Awaited<ReturnType<typeof byHand>>;

export async function byHand(ssh: readonly string[], folder: string, address: string) {
  let number = 0;
  await run('ssh', [...ssh, 'mkdir -p /srv/hand && cat > /srv/hand/haproxy.cfg'], { input: config });
  await run('ssh', [...ssh, `sh -eu -c '${setUp.trim()}'`]);
  await run('ssh', [...ssh, 'cat > /srv/hand/deploy'], { input: deploy });
  await run('ssh', [...ssh, 'cat > /srv/hand/deploy-new'], { input: deployNew });
  const once = async () => {
    number += 1;
    const begun = performance.now();
    await sent(folder, ssh, `sh /srv/hand/deploy ${number}`);
    return performance.now() - begun;
  };
  await once();
  const url = `http://${address}:20999/`;
  const answer = await fetch(url);
  if (!answer.ok) throw new Error('what was done by hand does not serve');
  return {
    url,
    deploy: once,
    deployNew: (from: string, which: number) => sent(from, ssh, `sh /srv/hand/deploy-new ${which}`),
    change: (files: Readonly<Record<string, string>>) => {
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    },
    forgetBuilds: () => run('ssh', [...ssh, 'docker builder prune --all --force > /dev/null']),
  };
}

function sent(folder: string, ssh: readonly string[], command: string): Promise<void> {
  const tar = spawn('tar', ['-c', '-C', folder, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const child = spawn('ssh', [...ssh, command], { stdio: [tar.stdout, 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`by hand: ${code}`))));
  });
}
