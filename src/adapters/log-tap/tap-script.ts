/**
 * The program behind `LogTap`: follows the output of any number of containers over one channel. A constant text for the
 * Perl that every Debian and Ubuntu has. It ends when its standard input does, so nothing of it stays on the server.
 *
 * In: `+ key path` asks Docker for that path and passes its answer on, `- key` stops that. Out: `key size`, then so many
 * bytes; the size -1 is the end of that answer.
 */
const program = String.raw`
use strict; use warnings; use Socket; use Errno qw(EINTR);
binmode STDIN; binmode STDOUT;
my %open; my $in = q{};
sub put { my ($bytes) = @_; my $at = 0;
  while ($at < length $bytes) { my $n = syswrite STDOUT, $bytes, length($bytes) - $at, $at;
    if (defined $n) { $at += $n } elsif ($! != EINTR) { exit 1 } } }
sub begin { my ($key, $path) = @_; my $s;
  my $asked = qq{GET $path HTTP/1.0\r\nHost: docker\r\n\r\n};
  if (socket($s, PF_UNIX, SOCK_STREAM, 0) && connect($s, pack_sockaddr_un(q{/var/run/docker.sock})) && syswrite($s, $asked)) { $open{$key} = $s }
  else { put(qq{$key -1\n}) } }
while (1) { my $bits = q{}; vec($bits, 0, 1) = 1;
  vec($bits, fileno($_), 1) = 1 for values %open;
  next if select(my $ready = $bits, undef, undef, undef) < 0;
  for my $key (grep { vec($ready, fileno($open{$_}), 1) } keys %open) {
    my $n = sysread $open{$key}, my $bytes, 65536;
    if ($n) { put(qq{$key $n\n$bytes}) }
    elsif (defined $n || $! != EINTR) { close delete $open{$key}; put(qq{$key -1\n}) } }
  next unless vec($ready, 0, 1);
  exit 0 unless sysread STDIN, $in, 65536, length $in;
  while ($in =~ s/^([^\n]*)\n//) { my ($what, $key, $path) = split / /, $1;
    if ($what eq q{+}) { begin($key, $path) } elsif ($open{$key}) { close delete $open{$key} } } }
`;

export const tapScript = `exec perl -e '${program}'
`;
