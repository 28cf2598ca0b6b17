/**
 * Brings a front's file, its names in the maps and the running proxy to what is wanted, whatever they are now: the files
 * first, so that a proxy that starts at any instant starts with what was wanted last. A second run finds what a first one
 * left undone. A reload is made only where the running proxy has read other rules than these.
 *
 * A name that another front had is taken from it: who was last to ask for it gets its requests.
 */
import type { EnvironmentId } from '../../ids.ts';
import type { ProxyServer, ProxyWork } from './fronts.ts';
import { backendOf, frontFileOf } from './places.ts';
import { placeOf, serverOptions } from './render-front.ts';
import type { HostEntry } from './routes.ts';
import { proxyScript, runProxyScript } from './server-program.ts';

export interface FrontChange {
  readonly id: EnvironmentId;
  readonly file:
    | { readonly write: 'always' | 'unless-shaped'; readonly text: string }
    | { readonly write: 'remove' | 'keep' };
  /** Its name; and whether requests that nobody can take may wait. */
  readonly marker: { readonly name: string; readonly state: 'on' | 'off' | 'keep' };
  readonly ready: readonly ProxyServer[];
  /** There, but without requests. One that has requests already keeps them. */
  readonly idle: readonly ProxyServer[];
  readonly others: 'drain' | 'keep';
  readonly hosts: readonly HostEntry[] | 'keep';
}

export async function settle(work: ProxyWork, spec: FrontChange): Promise<void> {
  const { file, marker, hosts } = spec;
  const text = 'text' in file ? file.text : '';
  const server = (verb: string) => (each: ProxyServer) => `${verb} ${each.name} ${placeOf(each)}`;
  const lines = [
    `backend ${backendOf(spec.id)}`,
    `file ${frontFileOf(spec.id)}`,
    `write ${file.write}`,
    `marker ${marker.name} ${marker.state}`,
    `others ${spec.others}`,
    `hosts ${hosts === 'keep' ? 'keep' : 'set'}`,
    ...spec.ready.map(server('ready')),
    ...spec.idle.map(server('idle')),
    ...(hosts === 'keep' ? [] : hosts.map(({ host, policy }) => `host ${host} ${policy ?? '-'}`)),
    `content ${Buffer.byteLength(text)}`,
  ];
  await runProxyScript(work, settleScript, `${lines.join('\n')}\n${text}`);
}

const program = String.raw`
my (%w, %ready, %idle, %hosts);
while (defined(my $line = <STDIN>)) { chomp $line; my ($key, @rest) = split / /, $line;
  if ($key eq q{ready}) { $ready{$rest[0]} = $rest[1] } elsif ($key eq q{idle}) { $idle{$rest[0]} = $rest[1] }
  elsif ($key eq q{host}) { $hosts{$rest[0]} = $rest[1] } else { $w{$key} = \@rest }
  last if $key eq q{content} }
my $content = q{}; my $size = $w{content} ? $w{content}[0] : die qq{the input ended early\n};
while (length $content < $size) { read STDIN, $content, $size - length $content, length $content or die qq{the input ended early\n} }
my ($backend, $write, $others) = map { $w{$_}[0] } qw(backend write others); my ($marker, $open) = @{$w{marker}};
my $path = qq{$dir/config/$w{file}[0]}; my $old = slurp($path); my $map = qq{$inside/config/hosts.map}; my $policies = qq{$inside/config/policies.map};

sub rows { my ($name) = @_; my $text = slurp(qq{$dir/config/$name}); return map { [split / /] } split /\n/, defined $text ? $text : q{} }
sub rewrite { my ($name, @rows) = @_; my $before = slurp(qq{$dir/config/$name}); my $after = join q{}, sort map { qq{$_->[0] $_->[1]\n} } @rows;
  put(qq{$dir/config/$name}, $after) unless defined $before && $after eq $before }
# The policies first: whose they are is told by the other map.
sub hosts { return unless $w{hosts}[0] eq q{set}; my @led = rows(q{hosts.map});
  my %ours = (%hosts, map { $_->[1] eq $backend ? ($_->[0] => 1) : () } @led);
  rewrite(q{policies.map}, (grep { !$ours{$_->[0]} } rows(q{policies.map})), map { $hosts{$_} eq q{-} ? () : [$_, $hosts{$_}] } keys %hosts);
  rewrite(q{hosts.map}, (grep { !$ours{$_->[0]} } @led), map { [$_, $backend] } keys %hosts) }
sub running { my ($pid, $name) = @_; return map { my @f = split / /; @f == 3 ? ($f[1] => $f[2]) : () } split /\n/, order($pid, qq{show map $name}) }
# A name leads nowhere before it has its policy, and for no moment without it.
sub map_commands { my ($pid) = @_; return () unless $w{hosts}[0] eq q{set}; my (@before, @led, @after);
  my %seen = running($pid, $map); my %had = running($pid, $policies);
  for my $host (sort keys %seen) { next if $seen{$host} ne $backend || defined $hosts{$host};
    push @led, qq{del map $map $host}; push @after, qq{del map $policies $host} if defined $had{$host} }
  for my $host (sort keys %hosts) { my $spec = $hosts{$host};
    if ($spec eq q{-}) { push @after, qq{del map $policies $host} if defined $had{$host} }
    elsif (!defined $had{$host}) { push @before, qq{add map $policies $host $spec} }
    elsif ($had{$host} ne $spec) { push @before, qq{set map $policies $host $spec} }
    if (!defined $seen{$host}) { push @led, qq{add map $map $host $backend} } elsif ($seen{$host} ne $backend) { push @led, qq{set map $map $host $backend} } }
  return (@before, @led, @after) }
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
  my @wrong = map_commands($pid);
  if ($write eq q{remove}) { unshift @wrong, qq{$backend is still there} if $now }
  elsif ($write ne q{keep}) { unshift @wrong, $now ? server_commands($now) : qq{$backend is not there} }
  return join q{}, map { qq{$_\n} } @wrong }

if ($write eq q{remove}) { hosts(); unlink $path or !defined $old or die qq{$path: $!\n} }
elsif ($write eq q{always}) { put($path, $content) unless defined $old && $old eq $content }
elsif ($write ne q{keep} && (!defined $old || index($old, qq{server $marker }) < 0)) { put($path, $content) }
hosts();
my ($current) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $current;
my $now = servers($current, $backend);
if ($write eq q{remove}) { order($current, map_commands($current)) }
if ($write eq q{remove} ? defined $now : $write ne q{keep} && (!$now || !$now->{$marker})) {
  my $wrong = checked(); my $is_bad = defined $wrong;
  $wrong = reload() unless $is_bad;
  if (defined $wrong) { if ($write ne q{remove}) { if (defined $old) { put($path, $old) } else { unlink $path } }
    reload() unless $is_bad;
    done(q{refused}, $wrong) } }
my $said = q{}; my $wrong = q{};
for my $try (1 .. 50) {
  my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
  my $seen = servers($pid, $backend); my @c = map_commands($pid);
  unshift @c, server_commands($seen) if $seen && $write ne q{remove} && $write ne q{keep};
  $said = order($pid, @c) if @c;
  $wrong = amiss($pid); done(q{ok}, q{}) if $wrong eq q{};
  pause(100) }
done(q{unsettled}, qq{$wrong$said});
`;

const settleScript = proxyScript(program);
