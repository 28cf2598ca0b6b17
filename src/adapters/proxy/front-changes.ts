/** What can be done to a front: let servers in, give them the requests, hold or refuse requests, take it away. */
import { Fault } from '../../fault.ts';
import type { EnvironmentId } from '../../ids.ts';
import { settleAndDrain } from './drain.ts';
import type { ProxyFront, ProxyServer, ProxyWork } from './fronts.ts';
import { backendOf, frontFileOf } from './places.ts';
import {
  type FrontState,
  markerOf,
  mustBeFront,
  mustBeServers,
  placeOf,
  renderFront,
  serverOptionsOf,
  stateOf,
} from './render-front.ts';
import { entriesOf } from './routes.ts';
import { proxyScript, runProxyScript } from './server-program.ts';
import { type FrontChange, settle } from './settle.ts';

/**
 * Makes sure that the front is there, with the servers that it has now, and lets more in without giving them requests:
 * they can be tried through the proxy. Servers that have requests already keep them.
 */
export async function admit(
  work: ProxyWork,
  front: ProxyFront,
  servers: readonly ProxyServer[],
): Promise<void> {
  await settle(work, admission(front, servers));
}

export function admission(front: ProxyFront, servers: readonly ProxyServer[]): FrontChange {
  mustBeServers(servers);
  return {
    id: front.id,
    options: serverOptionsOf(front),
    file: { write: 'unless-shaped', text: renderFront(front) },
    marker: { name: markerOf(front), state: 'keep' },
    ready: [],
    idle: servers,
    others: 'keep',
    hosts: 'keep',
  };
}

/** From now on these servers get the requests, and no others. It ends a hold. */
export async function switchTo(work: ProxyWork, front: ProxyFront): Promise<void> {
  await settle(work, switching(front));
}

/** The same, and in one round trip with it the others are let go: see `drained`. */
export function switchAndDrain(
  work: ProxyWork,
  front: ProxyFront,
  others: readonly string[],
  options: { readonly forMs: number },
): Promise<ReadonlyMap<string, number>> {
  return settleAndDrain(work, switching(front), others, options);
}

function switching(front: ProxyFront): FrontChange {
  if (front.servers.length === 0)
    throw new Fault('invalid_input', 'Requests cannot be given to nobody; a front is stopped instead.');
  return changeTo(front, 'serving');
}

/**
 * Nobody gets a new request: they wait for the next switch, each at most `holdSeconds`, and are then answered with 503.
 * Those under way go on.
 */
export async function hold(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, 'held');
}

/** New requests are answered with 503 at once, and those that wait with them. */
export async function stopFront(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, 'stopped');
}

/** After damage of any kind: file and running proxy become what the front says. */
export async function restoreFront(work: ProxyWork, front: ProxyFront): Promise<void> {
  await bring(work, front, stateOf(front));
}

async function bring(work: ProxyWork, front: ProxyFront, state: FrontState): Promise<void> {
  await settle(work, changeTo(front, state));
}

function changeTo(front: ProxyFront, state: FrontState): FrontChange {
  mustBeFront(front);
  return {
    id: front.id,
    options: serverOptionsOf(front),
    file: { write: 'always', text: renderFront(front, state) },
    marker: { name: markerOf(front), state },
    ready: state === 'serving' ? front.servers : [],
    idle: [],
    others: 'drain',
    hosts: entriesOf(front),
  };
}

/** Its port is closed, its names lead nowhere; connections that are open end by themselves. */
export async function removeFront(work: ProxyWork, id: EnvironmentId): Promise<void> {
  await settle(work, {
    id,
    options: '',
    file: { write: 'remove' },
    marker: { name: 'shape_none', state: 'keep' },
    ready: [],
    idle: [],
    others: 'keep',
    hosts: [],
  });
}

/**
 * Those of these servers that the front gives requests are asked at these places from now on. Who gets requests is not changed,
 * so nobody else's work is undone by it, whatever is under way: it is for facts, and needs no fence.
 */
export async function moveServers(
  { remote, signal }: Omit<ProxyWork, 'fence'>,
  id: EnvironmentId,
  servers: readonly ProxyServer[],
): Promise<void> {
  mustBeServers(servers);
  const rows = servers.map((each) => `${each.name} ${placeOf(each)}`);
  const work = { remote, signal };
  await runProxyScript(work, moveScript, `${[backendOf(id), frontFileOf(id), ...rows].join('\n')}\n`);
}

const moveScript = proxyScript(String.raw`
my ($backend, $file, @rows) = map { chomp; $_ } <STDIN>; my $path = qq{$dir/config/$file}; my $old = slurp($path);
done(q{ok}, q{}) unless defined $old;
my %to = map { split / /, $_ } @rows; my $new = $old; my @listed = grep { $new =~ s/^(  server \Q$_\E )\S+/$1$to{$_}/m } sort keys %to;
put($path, $new) unless $new eq $old;
my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
my $seen = servers($pid, $backend) || {}; my @c;
for my $name (grep { $seen->{$_} } @listed) { my ($address, $port) = $to{$name} =~ /^\[?(.*?)\]?:(\d+)$/; my $at = $seen->{$name};
  push @c, qq{set server $backend/$name addr $address port $port} if $at->{address} ne $address || $at->{port} ne $port }
order($pid, @c) if @c;
done(q{ok}, q{});
`);
