/**
 * The program behind `Remote.relay`. A constant text for the Perl that every Debian and Ubuntu has (`perl-base` is
 * essential there, curl and socat are not). It reads records from its standard input, talks to one socket after the
 * other, and prints each answer. It knows nothing of what it carries.
 *
 * In: a line `host port timeoutMs everyMs forMs maxBytes expectSize sendSize`, then the bytes of both. The host `-` is
 * followed by a path instead of a port. Out: a line `record ms state size`, then the bytes; `state` is `met`, `unmet`,
 * or the word of what failed. The first repeats come sooner than `everyMs`, each after a quarter of the time that has
 * passed: nobody waits much longer for what is up than it took. A record that stays unmet ends it: what comes after it was not wanted then.
 */
import { fenceScript } from '../units/unit-scripts.ts';

const program = String.raw`
use strict; use warnings; use Socket; use Errno qw(EINPROGRESS EINTR EAGAIN);
binmode STDIN; binmode STDOUT; $| = 1; $SIG{PIPE} = q{IGNORE};
sub now { open my $f, q{<}, q{/proc/uptime} or die qq{no clock: $!\n}; my ($s) = split / /, <$f>; return $s * 1000 }
sub take { my ($size) = @_; my $got = q{};
  while (length $got < $size) { my $n = read STDIN, $got, $size - length $got, length $got; die qq{the input ended early\n} unless $n }
  return $got }
sub ready { my ($s, $write, $until) = @_; my $left = ($until - now()) / 1000; return 0 if $left <= 0;
  my $bits = q{}; vec($bits, fileno($s), 1) = 1; my $n = $write ? select(undef, $bits, undef, $left) : select($bits, undef, undef, $left);
  return 1 if $n > 0; return ready($s, $write, $until) if $n < 0 && $! == EINTR; return 0 }
sub whole { my ($a) = @_; return 0 unless $a =~ m{^HTTP/1\.[01] \d{3}.*?\r\n\r\n}s; my $head = $+[0];
  return 0 unless substr($a, 0, $head) =~ m{\r\ncontent-length: *(\d+)}i; return length($a) - $head >= $1 }
sub talk { my ($host, $port, $bytes, $until, $most) = @_; my ($s, $to);
  if ($host eq q{-}) { socket $s, PF_UNIX, SOCK_STREAM, 0 or return (qq{socket:$!}, q{}); $to = pack_sockaddr_un($port) }
  elsif ($host =~ /:/) { socket $s, PF_INET6, SOCK_STREAM, 0 or return (qq{socket:$!}, q{}); $to = pack_sockaddr_in6($port, Socket::inet_pton(PF_INET6, $host)) }
  else { socket $s, PF_INET, SOCK_STREAM, 0 or return (qq{socket:$!}, q{}); $to = pack_sockaddr_in($port, inet_aton($host)) }
  my $old = fcntl($s, 3, 0); fcntl($s, 4, $old | 2048);
  unless (connect $s, $to) { return (qq{connect:$!}, q{}) unless $! == EINPROGRESS || $! == EAGAIN;
    return (q{connect:timed out}, q{}) unless ready($s, 1, $until);
    my $e = unpack q{i}, getsockopt($s, SOL_SOCKET, SO_ERROR); if ($e) { local $! = $e; return (qq{connect:$!}, q{}) } }
  my $sent = 0;
  while ($sent < length $bytes) { return (q{send:timed out}, q{}) unless ready($s, 1, $until);
    my $n = syswrite $s, $bytes, 65536, $sent; if (defined $n) { $sent += $n } elsif ($! != EAGAIN && $! != EINTR) { return (qq{send:$!}, q{}) } }
  return (q{}, q{}) if $most == 0;
  my $answer = q{};
  while (1) { return (q{answer:timed out}, $answer) unless ready($s, 0, $until);
    my $n = sysread $s, $answer, 65536, length $answer;
    if (!defined $n) { next if $! == EAGAIN || $! == EINTR; return (qq{answer:$!}, $answer) }
    last if $n == 0 || length $answer >= $most || whole($answer) }
  return (q{}, substr $answer, 0, $most) }
my $record = 0;
while (defined(my $line = <STDIN>)) { chomp $line;
  my ($host, $port, $timeout, $every, $for, $most, $expects, $sends) = split / /, $line;
  my $expect = take($expects); my $bytes = take($sends); my $begun = now(); my $met = 0; my $pause = $every < 10 ? $every : 10;
  while (1) { my $at = now(); my ($wrong, $answer) = talk($host, $port, $bytes, $at + $timeout, $most);
    $met = $wrong eq q{} && ($expect eq q{} || $answer =~ /$expect/s) ? 1 : 0;
    $wrong =~ s/[^a-zA-Z:]+/-/g; my $state = $met ? q{met} : $wrong eq q{} ? q{unmet} : $wrong;
    print join(q{ }, $record, int($at - $begun), $state, length $answer), qq{\n}, $answer;
    last if $met || now() - $begun + $pause > $for;
    select undef, undef, undef, $pause / 1000; $pause = (now() - $begun) / 4; $pause = 10 if $pause < 10; $pause = $every if $pause > $every }
  exit 0 unless $met; $record += 1 }
`;

const fence = `if [ -n "$1" ]; then
(${fenceScript})
fi
`;

/** `$1` scope, or empty, `$2` epoch. Without a scope nothing is locked, and nobody waits. */
export const relayScript = `${fence}exec perl -e '${program}'
`;

/**
 * The same behind another script: `$3` is the size of that one's input, which comes ahead of the records, and what follows
 * are its arguments. What it prints is not for us, unless it fails.
 */
export function relayScriptAfter(first: string): string {
  return `${fence}first() {
${first}
}
size=$3
shift 3
if [ "$size" = 0 ]; then (first "$@") >&2 </dev/null
else dd bs="$size" count=1 iflag=fullblock status=none | first "$@" >&2
fi
exec perl -e '${program}'
`;
}
