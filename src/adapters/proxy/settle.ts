/**
 * Brings a site's file, its entries in the map of hosts and the running proxy to what is wanted, whatever they are now:
 * the file first, so that a proxy that starts at any instant starts with what was wanted last. A second run finds what a
 * first one left undone. A reload is made only where the running proxy has read other rules than these.
 */
import type { EnvironmentId } from '../../ids.ts';
import { backendOf, siteFileOf } from './places.ts';
import { placeOf, serverOptions } from './render-site.ts';
import { proxyScript, runProxyScript } from './server-program.ts';
import type { ProxyServer, ProxyWork } from './sites.ts';

export interface SettleWish {
  readonly id: EnvironmentId;
  readonly file:
    | { readonly write: 'always' | 'unless-shaped'; readonly text: string }
    | { readonly write: 'remove' };
  /** Its name; and whether requests that nobody can take may wait. */
  readonly marker: { readonly name: string; readonly state: 'on' | 'off' | 'keep' };
  readonly ready: readonly ProxyServer[];
  /** There, but without requests. One that has requests already keeps them. */
  readonly idle: readonly ProxyServer[];
  readonly others: 'drain' | 'keep';
  readonly hosts: readonly string[] | 'keep';
}

export async function settle(work: ProxyWork, wish: SettleWish): Promise<void> {
  const { file, marker, hosts } = wish;
  const text = file.write === 'remove' ? '' : file.text;
  const server = (verb: string) => (each: ProxyServer) => `${verb} ${each.name} ${placeOf(each)}`;
  const lines = [
    `backend ${backendOf(wish.id)}`,
    `file ${siteFileOf(wish.id)}`,
    `write ${file.write}`,
    `marker ${marker.name} ${marker.state}`,
    `others ${wish.others}`,
    `hosts ${hosts === 'keep' ? 'keep' : 'set'}`,
    ...wish.ready.map(server('ready')),
    ...wish.idle.map(server('idle')),
    ...(hosts === 'keep' ? [] : hosts.map((host) => `host ${host}`)),
    `content ${Buffer.byteLength(text)}`,
  ];
  await runProxyScript(work, settleScript, `${lines.join('\n')}\n${text}`);
}

const program = String.raw`
my (%w, %ready, %idle, %hosts);
while (defined(my $line = <STDIN>)) { chomp $line; my ($key, @rest) = split / /, $line;
  if ($key eq q{ready}) { $ready{$rest[0]} = $rest[1] } elsif ($key eq q{idle}) { $idle{$rest[0]} = $rest[1] }
  elsif ($key eq q{host}) { $hosts{$rest[0]} = 1 } else { $w{$key} = \@rest }
  last if $key eq q{content} }
my $content = q{}; my $size = $w{content} ? $w{content}[0] : die qq{the input ended early\n};
while (length $content < $size) { read STDIN, $content, $size - length $content, length $content or die qq{the input ended early\n} }
my ($backend, $write, $others) = map { $w{$_}[0] } qw(backend write others); my ($marker, $open) = @{$w{marker}};
my $path = qq{$dir/config/$w{file}[0]}; my $old = slurp($path); my $map = qq{$inside/config/hosts.map};

sub hosts { return unless $w{hosts}[0] eq q{set}; my $file = qq{$dir/config/hosts.map}; my $before = slurp($file); $before = q{} unless defined $before;
  my @kept = grep { my ($host, $to) = split / /; $to ne $backend && !$hosts{$host} } split /\n/, $before;
  my $after = join q{}, map { qq{$_\n} } sort @kept, map { qq{$_ $backend} } keys %hosts;
  put($file, $after) if $after ne $before }
sub map_commands { my ($pid) = @_; return () unless $w{hosts}[0] eq q{set}; my (@c, %seen);
  for (split /\n/, order($pid, qq{show map $map})) { my (undef, $host, $to) = split / /; next unless defined $to; $seen{$host} = $to;
    push @c, qq{del map $map $host} if $to eq $backend && !$hosts{$host} }
  for my $host (sort keys %hosts) { if (!defined $seen{$host}) { push @c, qq{add map $map $host $backend} } elsif ($seen{$host} ne $backend) { push @c, qq{set map $map $host $backend} } }
  return @c }
# New ones get requests before the others lose them: there is no moment with nobody.
sub server_commands { my ($now) = @_; my (@add, @up, @down); my ($mark) = grep { /^shape_/ } keys %$now;
  my %all = (%idle, %ready);
  for my $name (sort keys %all) { my ($address, $port) = $all{$name} =~ /^\[?(.*?)\]?:(\d+)$/; my $seen = $now->{$name};
    if (!$seen) { push @add, qq{add server $backend/$name $all{$name} ${serverOptions}} }
    elsif ($seen->{address} ne $address || $seen->{port} ne $port) { push @add, qq{set server $backend/$name addr $address port $port} }
    if ($ready{$name}) { push @up, qq{set server $backend/$name state ready} unless $seen && $seen->{state} eq q{ready} }
    elsif (!$seen || $seen->{state} eq q{maint}) { push @up, qq{set server $backend/$name state drain} } }
  for my $name (sort keys %$now) { next if $all{$name} || $name =~ /^(shape_|forward$)/ || $others ne q{drain} || $now->{$name}{state} ne q{ready};
    push @down, qq{set server $backend/$name state drain} }
  if (defined $mark && $open eq q{on}) { push @up, qq{set server $backend/$mark state ready} if $now->{$mark}{state} ne q{ready} }
  if (defined $mark && $open eq q{off}) { unshift @down, qq{set server $backend/$mark state maint} if $now->{$mark}{state} ne q{maint} }
  return (@add, @up, @down) }
sub amiss { my ($pid) = @_; my $now = servers($pid, $backend);
  return $now ? qq{$backend is still there\n} : q{} if $write eq q{remove};
  return qq{$backend is not there\n} unless $now;
  return join q{}, map { qq{$_\n} } server_commands($now), map_commands($pid) }

if ($write eq q{remove}) { hosts(); unlink $path or !defined $old or die qq{$path: $!\n} }
elsif ($write eq q{always}) { put($path, $content) unless defined $old && $old eq $content }
elsif (!defined $old || index($old, qq{server $marker }) < 0) { put($path, $content) }
hosts();
my ($current) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $current;
my $now = servers($current, $backend);
if ($write eq q{remove}) { order($current, map_commands($current)) }
if ($write eq q{remove} ? defined $now : !$now || !$now->{$marker}) {
  my $wrong = checked(); my $is_bad = defined $wrong;
  $wrong = reload() unless $is_bad;
  if (defined $wrong) { if ($write ne q{remove}) { if (defined $old) { put($path, $old) } else { unlink $path } }
    reload() unless $is_bad;
    done(q{refused}, $wrong) } }
my $said = q{}; my $wrong = q{};
for my $try (1 .. 50) {
  my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
  my $seen = servers($pid, $backend); my @c = map_commands($pid);
  unshift @c, server_commands($seen) if $seen && $write ne q{remove};
  $said = order($pid, @c) if @c;
  $wrong = amiss($pid); done(q{ok}, q{}) if $wrong eq q{};
  pause(100) }
done(q{unsettled}, qq{$wrong$said});
`;

export const settleScript = proxyScript(program);
