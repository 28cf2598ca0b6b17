/**
 * Brings a front's file, its names in the maps and the running proxy to what is wanted, whatever they are now: the files
 * first, so that a proxy that starts at any instant starts with what was wanted last. A second run finds what a first one
 * left undone. A reload is made only where the running proxy has read other rules than these.
 *
 * A name that another front had is taken from it: who was last to ask for it gets its requests.
 *
 * One reload serves all that wait for one: who has a new front lays its file aside before it waits for the lock, and
 * whoever reloads takes the files of the others along. A file laid aside counts only while its owner lives, which holds a
 * lock on it, and was not replaced by another worker. Where the proxy refuses them, it is tried without the others.
 */
import type { EnvironmentId } from '../../ids.ts';
import type { FirstScript } from '../../remote/remote.ts';
import type { ProxyServer, ProxyWork } from './fronts.ts';
import { allWait, backendOf, frontFileOf } from './places.ts';
import { type FrontState, placeOf } from './render-front.ts';
import type { HostEntry } from './routes.ts';
import { proxyScriptFirst, runProxyScript, waitingProxyScript } from './server-program.ts';

export interface FrontChange {
  readonly id: EnvironmentId;
  /** Of servers that are added. */
  readonly options: string;
  readonly file:
    | { readonly write: 'always' | 'unless-shaped'; readonly text: string }
    | { readonly write: 'remove' | 'keep' };
  readonly marker: { readonly name: string; readonly state: FrontState | 'keep' };
  readonly ready: readonly ProxyServer[];
  /** There, but without requests. One that has requests already keeps them. */
  readonly idle: readonly ProxyServer[];
  readonly others: 'drain' | 'keep';
  readonly hosts: readonly HostEntry[] | 'keep';
}

export async function settle(work: ProxyWork, spec: FrontChange): Promise<void> {
  await runProxyScript(work, settleScript, orderOf(spec));
}

/** The same ahead of exchanges in the same round trip. */
export function settleFirst({ fence }: ProxyWork, spec: FrontChange): FirstScript {
  return proxyScriptFirst(fence, settleScript, orderOf(spec));
}

export function orderOf(spec: FrontChange): string {
  const { file, marker, hosts } = spec;
  const text = 'text' in file ? file.text : '';
  const server = (verb: string) => (each: ProxyServer) => `${verb} ${each.name} ${placeOf(each)}`;
  const lines = [
    `backend ${backendOf(spec.id)}`,
    `options ${spec.options}`,
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
  return `${lines.join('\n')}\n${text}`;
}

const program = String.raw`
my (%w, %ready, %idle, %hosts);
while (defined(my $line = <STDIN>)) { chomp $line; my ($key, @rest) = split / /, $line;
  if ($key eq q{ready}) { $ready{$rest[0]} = $rest[1] } elsif ($key eq q{idle}) { $idle{$rest[0]} = $rest[1] }
  elsif ($key eq q{host}) { $hosts{$rest[0]} = $rest[1] } else { $w{$key} = \@rest }
  last if $key eq q{content} }
my $content = q{}; my $size = $w{content} ? $w{content}[0] : die qq{the input ended early\n};
while (length $content < $size) { read STDIN, $content, $size - length $content, length $content or die qq{the input ended early\n} }
my ($backend, $write, $others) = map { $w{$_}[0] } qw(backend write others); my ($marker, $state) = @{$w{marker}}; my $options = join q{ }, @{$w{options}};
my $wait = q{${allWait}}; my $path = qq{$dir/config/$w{file}[0]}; my $old = slurp($path); my $map = qq{$inside/config/hosts.map}; my $policies = qq{$inside/config/policies.map};

my $shaped = sub { my ($text, $name) = @_; return defined $text && index($text, qq{server $name }) >= 0 };
my $aside = qq{$dir/aside}; my $own_aside = qq{$aside/$w{file}[0]}; my $held;
sub lay_aside { mkdir $aside, 0700; my $new = qq{$own_aside.$$}; open $held, q{>:raw}, $new or die qq{$new: $!\n};
  flock $held, 6 or die qq{$new: $!\n}; print $held join(q{ }, $scope eq q{} ? q{-} : $scope, $epoch, $marker), qq{\n$content}; $held->flush; rename $new, $own_aside or die qq{$own_aside: $!\n} }
sub take_along { my @taken; opendir my $all, $aside or return ();
  for (sort readdir $all) { next unless /^front-[0-9a-f-]{36}[.]cfg$/ && $_ ne $w{file}[0]; my $to = qq{$dir/config/$_};
    open my $f, q{<:raw}, qq{$aside/$_} or next; if (flock $f, 6) { unlink qq{$aside/$_}; next }
    my $text = do { local $/; <$f> }; next unless defined $text && $text =~ s/^(\S+) (\d+) (shape_\w+)\n//; my ($by, $at, $shape) = ($1, $2, $3);
    my $before = slurp($to); next if defined replaced_by($by, $at) || $shaped->($before, $shape);
    put($to, $text); push @taken, [$to, $before] }
  return @taken }
sub put_back { for (@_) { my ($to, $before) = @$_; if (defined $before) { put($to, $before) } else { unlink $to } } }
sub load { my $wrong = checked(); return ($wrong, 1) if defined $wrong; return (reload(), 0) }

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
# New ones get requests before the others lose them: there is no moment with nobody. Where requests are to wait, they do before
# that; and HAProxy stops all its threads to add a server, so whoever was let through before has a server when that is done.
sub server_commands { my ($now) = @_; my (@add, @up, @down); my ($mark) = grep { /^shape_/ } keys %$now;
  my %all = (%idle, %ready);
  for my $name (sort keys %all) { my ($address, $port) = $all{$name} =~ /^\[?(.*?)\]?:(\d+)$/; my $seen = $now->{$name};
    if (!$seen) { push @add, qq{add server $backend/$name $all{$name} $options}; push @add, qq{enable health $backend/$name} if $options =~ / check / }
    elsif ($seen->{address} ne $address || $seen->{port} ne $port) { push @add, qq{set server $backend/$name addr $address port $port} }
    if ($ready{$name}) { push @up, qq{set server $backend/$name state ready} unless $seen && $seen->{state} eq q{ready} }
    elsif (!$seen || $seen->{state} eq q{maint}) { push @up, qq{set server $backend/$name state drain} } }
  for my $name (sort keys %$now) { next if $all{$name} || $name =~ /_|^forward$/ || $others ne q{drain} || $now->{$name}{state} ne q{ready};
    push @down, qq{set server $backend/$name state drain} }
  my $bring = sub { my ($name, $to) = @_; return $name && $now->{$name} && $now->{$name}{state} ne $to ? qq{set server $backend/$name state $to} : () };
  if ($state eq q{serving}) { push @up, $bring->($mark, q{ready}), $bring->($wait, q{maint}) }
  if ($state eq q{held}) { push @up, $bring->($mark, q{ready}), $bring->($wait, q{ready});
    push @up, qq{add server $backend/all_threads 127.0.0.1:9}, qq{del server $backend/all_threads} if @down }
  if ($state eq q{stopped}) { unshift @down, $bring->($mark, q{maint}), $bring->($wait, q{maint}) }
  return (@add, @up, @down) }
sub amiss { my ($pid) = @_; my $now = servers($pid, $backend);
  my @wrong = map_commands($pid);
  if ($write eq q{remove}) { unshift @wrong, qq{$backend is still there} if $now }
  elsif ($write ne q{keep}) { unshift @wrong, $now ? server_commands($now) : qq{$backend is not there} }
  return join q{}, map { qq{$_\n} } @wrong }

lay_aside() if $write eq q{unless-shaped} && !$shaped->($old, $marker);
take_lock(); unlink $own_aside; $old = slurp($path);
if ($write eq q{remove}) { hosts(); unlink $path or !defined $old or die qq{$path: $!\n} }
elsif ($write eq q{always}) { put($path, $content) unless defined $old && $old eq $content }
elsif ($write ne q{keep} && !$shaped->($old, $marker)) { put($path, $content) }
hosts();
my ($current) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $current;
my $now = servers($current, $backend);
if ($write eq q{remove}) { order($current, map_commands($current)) }
if ($write eq q{remove} ? defined $now : $write ne q{keep} && (!$now || !$now->{$marker})) {
  my @others = take_along(); my ($wrong, $is_bad) = load();
  if (defined $wrong && @others) { put_back(@others); ($wrong, $is_bad) = load() }
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

export const settleScript = waitingProxyScript(program);
