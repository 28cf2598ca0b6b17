/** One connection to a socket of the server, or to one that the server reaches, as a stream in both directions. */
import { once } from 'node:events';
import { Fault } from '../../fault.ts';
import type { Remote, RemoteStream, StreamOptions } from '../remote.ts';

/**
 * A constant text for Perl, like that of the relay: `$1` address, `$2` port. It prints one byte once it is connected.
 * Two processes, one for each direction: one alone would wait for a peer that waits for it.
 */
const program = String.raw`
use strict; use warnings; use Socket; use Errno qw(EINTR); $SIG{PIPE} = q{IGNORE};
my ($host, $port) = @ARGV; my $within = 10;
socket my $s, PF_INET, SOCK_STREAM, 0 or die qq{socket: $!\n};
local $SIG{ALRM} = sub { die qq{connect: timed out\n} }; alarm $within;
connect $s, pack_sockaddr_in($port, inet_aton($host)) or die qq{connect: $!\n};
alarm 0; setsockopt $s, 6, 1, 1; setsockopt $s, SOL_SOCKET, SO_KEEPALIVE, 1;
syswrite STDOUT, q{+};
my $kid = fork; die qq{fork: $!\n} unless defined $kid;
my ($from, $to) = $kid ? ($s, \*STDOUT) : (\*STDIN, $s);
while (1) { my $n = sysread $from, my $bytes, 65536; next if !defined $n && $! == EINTR; last unless $n;
  my $at = 0; while ($at < $n) { my $w = syswrite $to, $bytes, $n - $at, $at; next if !defined $w && $! == EINTR; last unless defined $w; $at += $w } last if $at < $n }
if ($kid) { kill q{TERM}, $kid } else { shutdown $s, 1 }
`;

export async function connectSocket(
  remote: Pick<Remote, 'stream'>,
  { host, port }: { readonly host: string; readonly port: number },
  options: Pick<StreamOptions, 'signal' | 'timeoutMs'>,
): Promise<RemoteStream> {
  const argv = ['perl', '-e', program, host, String(port)];
  const stream = await remote.stream(argv, { ...options, asRoot: false });
  const { stdout, stderr, ended } = stream;
  await Promise.race([once(stdout, 'readable'), ended]);
  if (stdout.read(1)?.toString() === '+') return stream;
  stdout.destroy();
  const evidence = String(stderr.read() ?? '').trim();
  throw new Fault('remote_failed', 'The server cannot connect to the socket.', {
    ...(evidence !== '' && { evidence }),
  });
}
