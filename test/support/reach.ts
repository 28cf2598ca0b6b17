/**
 * Who reaches what on a server: listeners where an attacker would like to get to, containers and builds that try. All
 * foreign addresses are in a network of the server's own, and no route for them leads out of it.
 */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { pack } from 'tar-stream';
import { ask } from '../../src/adapters/docker/ask.ts';
import { buildImage, sendContext } from '../../src/adapters/docker/build-image.ts';
import { createContainer, startContainer } from '../../src/adapters/docker/containers.ts';
import { bridgeCall } from '../../src/engine/docker-host.ts';
import { addressIn, gatewayOf, labelsOf, networkName, type Placement } from '../../src/engine/placement.ts';
import { type EnvironmentId, newId, type ServerId, type WorkspaceId } from '../../src/ids.ts';
import type { Remote } from '../../src/remote/remote.ts';
import { hangMs } from './until.ts';

export const metadata = ['169.254.169.254', '100.100.100.200', '168.63.129.16'] as const;
/** A machine of a private network, as a database may be on. */
export const neighbour = '10.99.0.1';
/** Of the server itself: what listens to all, and what to the machine alone. */
export const exporterPort = 9100;
export const loopbackPort = 9200;

const image = 'node:24-slim';
const answering = `require('node:http').createServer((_, r) => r.end('app')).listen(8080)`;
const log = '/run/traps.log';

/** `/to/<url>` redirects there, `/wait` answers once the file /run/traps-go is there; everything is noted. */
const listener = `use IO::Socket::INET; $SIG{CHLD} = "IGNORE"; my ($host, $port) = @ARGV;
my $s = IO::Socket::INET->new(LocalAddr => $host, LocalPort => $port, Listen => 50, ReuseAddr => 1) or die "$!\\n";
while (1) { my $c = $s->accept or next; next if fork;
  my $line = <$c> // ""; while (<$c>) { last if /^\\r?\\n/ }
  open my $f, ">>", "${log}"; flock $f, 2; print $f "$host:$port $line"; close $f;
  my ($path) = $line =~ m{^\\w+ (\\S+)}; my $body = "secret of $host:$port\\n";
  while ($path eq "/wait" && !-e "/run/traps-go") { select undef, undef, undef, 0.05 }
  if ($path =~ m{^/to/(.*)}) { print $c "HTTP/1.0 302 Found\\r\\nLocation: $1\\r\\nContent-Length: 0\\r\\n\\r\\n" }
  else { print $c "HTTP/1.0 200 OK\\r\\nContent-Length: " . length($body) . "\\r\\n\\r\\n$body" }
  exit }`;

const setTraps = `
ip route add unreachable 169.254.0.0/16 metric 4000
ip netns add cloud
ip link add cloud0 type veth peer name cloud1 netns cloud
ip address add 10.99.0.254/24 dev cloud0
ip link set cloud0 up
ip -n cloud address add ${neighbour}/24 dev cloud1
ip -n cloud link set cloud1 up
ip -n cloud link set lo up
ip -n cloud route add default via 10.99.0.254
for each in ${metadata.join(' ')}; do
  ip -n cloud address add "$each/32" dev lo
  ip route add "$each" via ${neighbour}
done
listen() { name=$1; shift; systemd-run --quiet --unit="trap-$name" "$@"; }
for each in ${neighbour} ${metadata.join(' ')}; do listen "$each" ip netns exec cloud perl -e "$0" "$each" 80; done
listen exporter perl -e "$0" 0.0.0.0 ${exporterPort}
listen loopback perl -e "$0" 127.0.0.1 ${loopbackPort}
for each in ${[neighbour, ...metadata].map((each) => `${each}:80`).join(' ')} 127.0.0.1:${exporterPort} 127.0.0.1:${loopbackPort}; do
  tries=0
  until curl --silent --fail --max-time 5 "http://$each/" > /dev/null; do
    tries=$((tries + 1)); [ "$tries" -lt 100 ]; sleep 0.1
  done
done
: > ${log}
`;

/** From the server itself, all of them answer afterwards. */
export async function layTraps(remote: Remote): Promise<void> {
  await remote.output(['sh', '-euc', setTraps, listener], { timeoutMs: hangMs });
}

/** The listeners that were asked for something since the last time. */
export async function trapsMet(remote: Remote): Promise<string[]> {
  const taken = await remote.script(`flock ${log} sh -c 'cat ${log}; : > ${log}'`, []);
  const lines = taken.toString().split('\n').filter(Boolean);
  return [...new Set(lines.map((line) => line.split(' ')[0] ?? ''))].sort();
}

const tryAll = `const net = require('node:net');
const [, patienceMs, ...targets] = process.argv;
const one = (to) => new Promise((done) => {
  const at = to.lastIndexOf(':');
  const socket = net.connect({ host: to.slice(0, at), port: Number(to.slice(at + 1)), timeout: Number(patienceMs) });
  socket.on('connect', () => { done([to, 'open']); socket.destroy(); });
  socket.on('timeout', () => { done([to, 'silent']); socket.destroy(); });
  socket.on('error', () => done([to, 'refused']));
});
Promise.all(targets.map(one)).then((all) => console.log('tried ' + JSON.stringify(Object.fromEntries(all))));`;

export type Tried = Readonly<Record<string, 'open' | 'silent' | 'refused'>>;

function triedIn(said: string): Tried {
  return JSON.parse(/tried (\{.*?\})/.exec(said)?.[1] ?? assert.fail(said));
}

/** What connections out of a container meet. */
export async function tryFrom(
  remote: Remote,
  container: string,
  targets: readonly string[],
  patienceMs = hangMs,
): Promise<Tried> {
  const argv = ['docker', 'exec', container, 'node', '-e', tryAll, String(patienceMs), ...targets];
  return triedIn((await remote.output(argv, { timeoutMs: hangMs })).toString());
}

export const allAre = (state: Tried[string], targets: readonly string[]): Tried =>
  Object.fromEntries(targets.map((each) => [each, state]));

export interface RunningApp {
  readonly name: string;
  readonly address: string;
  readonly gateway: string;
}

/** An application in an environment of its own, which answers on port 8080. */
export async function runApp(remote: Remote, network: number): Promise<RunningApp> {
  const placement: Placement = {
    workspaceId: newId<WorkspaceId>(),
    environmentId: newId<EnvironmentId>(),
    serverId: newId<ServerId>(),
    clusterId: null,
    port: 21_000,
    network,
  };
  const name = `slipway-app-${network}`;
  const address = addressIn(placement, 16);
  const spec = {
    name,
    image,
    labels: labelsOf(placement, 'app'),
    network: networkName(placement),
    address,
    environment: new Map(),
    entrypoint: ['node', '-e', answering],
    command: [],
    restart: 'unless-stopped',
    stopSeconds: 1,
    memoryMb: 256,
    cpus: 1,
    cgroupParent: '',
  } as const;
  await ask(remote, [bridgeCall(placement), createContainer(spec), startContainer(name)]);
  return { name, address, gateway: gatewayOf(placement) };
}

/** As the server's owner may have one, of which Slipway knows nothing; it answers on port 8080. */
export async function runOwners(remote: Remote, name: string): Promise<void> {
  const argv = ['docker', 'run', '--detach', '--name', name, image, 'node', '-e', answering];
  await remote.output(argv, { timeoutMs: hangMs });
}

let builds = 0;

/** What the build said; fails as builds do. */
export async function build(remote: Remote, dockerfile: string): Promise<string> {
  builds += 1;
  const own = `reach-${builds}`;
  const folder = `/var/lib/slipway/builds/${own}`;
  const fence = { scope: 'reach', epoch: 1 };
  const tar = pack();
  tar.entry({ name: 'file' }, 'content');
  tar.finalize();
  const files = [{ path: 'Dockerfile', content: dockerfile, mode: 0o600 }];
  await sendContext(remote, { folder, tar: Readable.from(tar), files, fence });
  const lines: string[] = [];
  const line = (text: string) => void lines.push(text);
  const names = { unit: `slipway-${own}`, owner: 'slipway.test', tag: own, labels: {}, cacheScope: 'creach' };
  const limits = { cpus: 1, memoryMb: 512 };
  const spec = { ...names, ...limits, folder, buildArgs: {}, secretKeys: [], fence };
  await buildImage(remote, spec, { signal: AbortSignal.timeout(hangMs), line });
  return lines.join('\n');
}

/** What connections out of a step of a build meet. */
export async function tryFromBuild(remote: Remote, targets: readonly string[]): Promise<Tried> {
  const step = `RUN ${JSON.stringify(['node', '-e', tryAll, String(hangMs), ...targets])}`;
  return triedIn((await build(remote, `FROM ${image}\n${step}\n`)).replaceAll('\\"', '"'));
}
