/**
 * What the proxy of a server has: in its files, and running. For those who compare it with what should be. Looks only,
 * in one round trip, and claims nothing.
 */
import type { EnvironmentId } from '../../ids.ts';
import type { ProxyRoute, ProxyServer, ProxyWork } from './fronts.ts';
import { allWait, backendOf, hostsMapInside, policiesMapInside } from './places.ts';
import type { FrontState } from './render-front.ts';
import { routeFrom } from './routes.ts';
import { proxyScript, runProxyScript } from './server-program.ts';

export interface SeenServer extends ProxyServer {
  readonly state: 'ready' | 'draining' | 'resting';
  /** Requests that it has, or that wait for it, in all workers. */
  readonly requests: number;
}

export interface SeenFront {
  readonly id: EnvironmentId;
  /** What a proxy that is started now would begin with. */
  readonly file: {
    readonly state: FrontState;
    readonly port: number;
    readonly servers: readonly ProxyServer[];
    readonly hosts: readonly string[];
    readonly routes: readonly ProxyRoute[];
  } | null;
  readonly running: {
    readonly state: FrontState;
    readonly servers: readonly SeenServer[];
    readonly hosts: readonly string[];
    readonly routes: readonly ProxyRoute[];
  } | null;
  /** The running proxy does what the file says. Servers without requests may be there beside. */
  readonly agrees: boolean;
}

export interface SeenProxy {
  /** False: it does not answer, and only the files were read. */
  readonly isRunning: boolean;
  /** Those from before a reload that still have connections. */
  readonly oldWorkers: number;
  readonly fronts: readonly SeenFront[];
}

export async function readFronts({ remote, signal }: Omit<ProxyWork, 'fence'>): Promise<SeenProxy> {
  const options = { maxOutputBytes: 32 * 1024 * 1024 };
  const said = await runProxyScript({ remote, signal }, readScript, '', options);
  const rows = said.split('\n').map((line) => line.split(' '));
  const of = (kind: string) => rows.filter(([first]) => first === kind).map(([, ...rest]) => rest);
  const ids = new Set([...of('file'), ...of('marker')].map(([id]) => id ?? ''));
  const workers = Number(of('workers')[0]?.[0]);
  const fronts = [...ids].sort().map((id) => seenFront(id as EnvironmentId, of));
  return { isRunning: workers > 0, oldWorkers: Math.max(0, workers - 1), fronts };
}

type Rows = (kind: string) => string[][];

function seenFront(id: EnvironmentId, all: Rows): SeenFront {
  const of = (kind: string) => all(kind).filter(([first]) => first === id);
  const hosts = (kind: string) =>
    all(kind)
      .filter(([, to]) => to === backendOf(id))
      .map(([host = '']) => host)
      .sort();
  const routes = (names: readonly string[], kind: string) =>
    all(kind)
      .filter(([host = '']) => names.includes(host))
      .map(([host = '', policy = '']) => routeFrom(host, policy))
      .sort((a, b) => (a.host < b.host ? -1 : 1));
  const [writtenHosts, ledHosts] = [hosts('host'), hosts('led')];
  const [inFile, marker] = [of('file')[0], of('marker')[0]];
  const written = of('written').map(([, name = '', address = '', port]) => ({
    name,
    address,
    port: Number(port),
  }));
  const servers = of('server').map(([, name = '', address = '', port, state, requests]) => ({
    name,
    address,
    port: Number(port),
    state: stateNamed(state),
    requests: Number(requests),
  }));
  const ready = servers.filter(({ state }) => state === 'ready');
  const file = inFile && {
    state: frontState(written.length, inFile[3] === 'on', inFile[4] === 'on'),
    port: Number(inFile[1]),
    servers: written,
    hosts: writtenHosts,
    routes: routes(writtenHosts, 'policy'),
  };
  const running = marker && {
    state: frontState(ready.length, marker[2] === 'ready', of('wait')[0]?.[1] === 'ready'),
    servers,
    hosts: ledHosts,
    routes: routes(ledHosts, 'kept'),
  };
  const agrees =
    file !== undefined &&
    running !== undefined &&
    inFile?.[2] === marker?.[1] &&
    file.state === running.state &&
    listed(written) === listed(ready) &&
    file.hosts.join() === running.hosts.join() &&
    JSON.stringify(file.routes) === JSON.stringify(running.routes);
  return { id, file: file ?? null, running: running ?? null, agrees };
}

function frontState(servers: number, mayWait: boolean, doesWait: boolean): FrontState {
  if (servers > 0 && !doesWait) return 'serving';
  return mayWait ? 'held' : 'stopped';
}

function stateNamed(word: string | undefined): SeenServer['state'] {
  if (word === 'ready') return 'ready';
  return word === 'drain' ? 'draining' : 'resting';
}

function listed(servers: readonly ProxyServer[]): string {
  return servers
    .map(({ name, address, port }) => `${name} ${address} ${port}`)
    .sort()
    .join('\n');
}

const program = String.raw`
my @all = workers(); my @rows = (qq{workers } . scalar @all);
my $address = qr{\[?([0-9a-fA-F.:]+?)\]?:(\d+)};
opendir my $folder, qq{$dir/config} or die qq{$dir/config: $!\n};
for (sort readdir $folder) { next unless /^front-([0-9a-f-]{36})\.cfg$/; my $id = $1; my $text = slurp(qq{$dir/config/$_});
  my ($port) = $text =~ /^  bind :(\d+)$/m; my ($marker, $off) = $text =~ /^  server (shape_\w+) \S+ weight 0( disabled)?$/m;
  my $wait = $text =~ /^  server ${allWait} \S+ weight 0$/m;
  push @rows, join q{ }, q{file}, $id, $port || 0, $marker || q{-}, $off ? q{off} : q{on}, $wait ? q{on} : q{off};
  push @rows, qq{written $id $1 $2 $3} while $text =~ /^  server ([a-z0-9][a-z0-9-]*) $address /mg }
for ([q{host}, q{hosts.map}], [q{policy}, q{policies.map}]) { my ($kind, $name) = @$_; my $text = slurp(qq{$dir/config/$name});
  push @rows, map { qq{$kind $_} } split /\n/, defined $text ? $text : q{} }
if (@all) { my %count;
  for my $pid (@all) { for (split /\n/, order($pid, q{show stat -1 4 -1})) { my @f = split /,/; $count{qq{$f[0] $f[1]}} += $f[2] + $f[4] if @f > 5 && /^app_/ } }
  for ([q{led}, q{${hostsMapInside}}], [q{kept}, q{${policiesMapInside}}]) { my ($kind, $name) = @$_;
    push @rows, map { my @f = split / /; @f == 3 ? qq{$kind $f[1] $f[2]} : () } split /\n/, order($all[0], qq{show map $name}) }
  for (split /\n/, order($all[0], q{show servers state})) { my @f = split / /; next unless @f > 18 && $f[1] =~ /^app_(.+)$/; my $id = $1; $id =~ tr/_/-/;
    my $state = state_of($f[6]);
    if ($f[3] =~ /^shape_/) { push @rows, qq{marker $id $f[3] $state} }
    elsif ($f[3] eq q{${allWait}}) { push @rows, qq{wait $id $state} }
    elsif ($f[3] !~ /_|^forward$/) { push @rows, join q{ }, q{server}, $id, $f[3], $f[4], $f[18], $state, $count{qq{$f[1] $f[3]}} || 0 } } }
done(q{ok}, join qq{\n}, @rows);
`;

const readScript = proxyScript(program, { isLocked: false });
