/**
 * What our scripts for the proxy have in common: a constant text for the shell and for the Perl that every Debian and
 * Ubuntu has. It looks at the running proxy and changes it on the server itself, so that a look and what follows from it
 * take one round trip, and nobody comes in between.
 *
 * After a reload the worker before it lives on until its last connection ends, and still has requests: so they are
 * counted in every worker, by the master's socket. Only the newest takes orders; the first in the list is that one.
 */
import { Fault, type FaultCode } from '../../fault.ts';
import type { Fence, FirstScript, RemoteOutcome, RunOptions } from '../../remote/remote.ts';
import { exits, fenceScript, unitRoot } from '../../remote/units/unit-scripts.ts';
import { fenceArguments, fencedFault } from '../../remote/units/units.ts';
import type { ProxyWork } from './fronts.ts';
import { proxyContainer, proxyFolder, proxyFolderInside } from './places.ts';

/** One change of the proxy at a time. The kernel takes the lock back from whoever dies with it. */
export const lockProxy = `
exec 8>> ${proxyFolder}/lock
flock 8
`;

/** `$1` scope, `$2` epoch. Under the lock, so that one who was replaced cannot act after its successor. */
const fence = `
if [ -n "$1" ]; then
  code=0
  said=$( (${fenceScript}) 2>&1 ) || code=$?
  if [ "$code" = ${exits.fenced} ]; then echo "fenced $said"; exit 0; fi
  if [ "$code" != 0 ]; then echo "$said" >&2; exit "$code"; fi
fi
`;

/** No single quotes in it: it is one argument of the shell. */
export const library = String.raw`
use strict; use warnings; use Socket; use IO::Handle; use Errno qw(EINTR);
binmode STDIN; binmode STDOUT; $SIG{PIPE} = q{IGNORE};
my $dir = q{${proxyFolder}}; my $inside = q{${proxyFolderInside}}; my $master = qq{$dir/run/master.sock};
sub now { open my $f, q{<}, q{/proc/uptime} or die qq{no clock: $!\n}; my ($s) = split / /, <$f>; return $s * 1000 }
sub pause { select undef, undef, undef, $_[0] / 1000 }
sub slurp { my ($path) = @_; open my $f, q{<:raw}, $path or return undef; local $/; my $text = <$f>; return defined $text ? $text : q{} }
sub put { my ($path, $text) = @_; my $new = $path; $new =~ s{([^/]+)$}{.$1.new};
  open my $f, q{>:raw}, $new or die qq{$new: $!\n}; print $f $text; $f->flush; $f->sync; close $f or die qq{$new: $!\n};
  rename $new, $path or die qq{$path: $!\n} }
# One that was silent on the way is being started again: what it did not do, it did not refuse.
my $silent = 0; my $refusal = qr{^(?:refused|unfit|unproven|unsettled)$};
sub done { my ($word, $text) = @_; $word = q{down} if $silent && $word =~ $refusal; print $word, q{ }, $text; exit 0 }
sub ask { my $said = answer_to(@_); $silent = 1 unless defined $said; return $said }
sub answer_to { my ($line, $ms) = @_; my $until = now() + ($ms || 10000); my $answer = q{};
  socket my $s, PF_UNIX, SOCK_STREAM, 0 or die qq{socket: $!\n};
  connect $s, pack_sockaddr_un($master) or return undef;
  syswrite $s, qq{$line\n} or return undef; shutdown $s, 1;
  while (1) { my $left = ($until - now()) / 1000; return undef if $left <= 0;
    my $bits = q{}; vec($bits, fileno($s), 1) = 1; my $n = select $bits, undef, undef, $left;
    next if $n < 0 && $! == EINTR; return undef if $n <= 0;
    $n = sysread $s, $answer, 65536, length $answer; next if !defined $n && $! == EINTR;
    return length $answer ? $answer : undef unless $n } }
sub workers { my $said = ask(q{show proc}); return () unless defined $said;
  my @pids = $said =~ /^(\d+)\s+worker\s/mg; return @pids }
sub order { my ($pid, @commands) = @_; my $said = q{};
  while (my @some = splice @commands, 0, 20) { my $part = ask(join q{;}, map { qq{\@!$pid $_} } @some); $said .= $part if defined $part }
  return $said }
sub state_of { my ($bits) = @_; return $bits & 0x63 ? q{maint} : $bits & 0x18 ? q{drain} : q{ready} }
# Address, port, and whether it is ready, drains or rests, by name; undefined where there is no such backend.
sub servers { my ($pid, $backend) = @_; my %found; my $said = order($pid, qq{show servers state $backend});
  return undef unless $said =~ /^# be_id/m;
  for (split /\n/, $said) { my @f = split / /; next unless @f > 18 && $f[1] eq $backend;
    $found{$f[3]} = { address => $f[4], port => $f[18], state => state_of($f[6]) } }
  return \%found }
sub counts { my ($pid, $backend) = @_; my %found;
  for (split /\n/, order($pid, qq{show stat $backend 4 -1})) { my @f = split /,/; next unless @f > 5 && $f[0] eq $backend;
    $found{$f[1]} = $f[2] + $f[4] }
  return \%found }
sub checked { my $said = qx{docker exec ${proxyContainer} haproxy -c -f $inside/config 2>&1}; return undef if $? == 0;
  $silent = 1 if $? >> 8 != 1 || $said =~ /^Error response from daemon/m; return $said }
sub reload { my $said = ask(q{reload}, 60000); $said = q{no answer} unless defined $said;
  return $said =~ /^Success=1$/m ? undef : $said }
`;

export function proxyScript(program: string, { isLocked = true } = {}): string {
  return `if [ ! -d ${proxyFolder}/config ]; then echo 'missing there is no proxy on this server'; exit 0; fi
${isLocked ? lockProxy : ''}${fence}
exec perl -e '${library}${program}' -- "$1" "$2"
`;
}

/**
 * The same for a program that has something to do before it takes the lock, with `take_lock`: there it looks again whether
 * it was replaced while it waited.
 */
export function waitingProxyScript(program: string): string {
  return proxyScript(`${ownLock}${program}`, { isLocked: false });
}

const ownLock = String.raw`
my ($scope, $epoch) = @ARGV; my $lock;
sub replaced_by { my ($scope, $epoch) = @_; my $seen = $scope eq q{} || $scope eq q{-} ? undef : slurp(qq{${unitRoot}/fences/$scope});
  return defined $seen && $seen =~ /^(\d+)/ && $1 > $epoch ? $1 : undef }
sub take_lock { open $lock, q{>>}, qq{$dir/lock} or die qq{$dir/lock: $!
};
  until (flock $lock, 2) { die qq{$dir/lock: $!
} unless $! == EINTR }
  my $by = replaced_by($scope, $epoch); done(q{fenced}, qq{the server has seen epoch $by, this is $epoch}) if defined $by }
`;

/** Runs it and reads the word that its answer begins with; what is no success is a fault. */
export async function runProxyScript(
  { remote, fence, signal }: Omit<ProxyWork, 'fence'> & Partial<Pick<ProxyWork, 'fence'>>,
  script: string,
  input: string,
  {
    more = [],
    ...options
  }: Pick<RunOptions, 'timeoutMs' | 'maxOutputBytes' | 'secrets'> & {
    readonly more?: readonly string[];
  } = {},
): Promise<string> {
  const said = await remote.script(script, [...fenceArguments(fence), ...more], {
    input,
    signal,
    timeoutMs: 180_000,
    ...options,
  });
  const { word, rest } = answerIn(said.toString('utf8'));
  if (word === 'ok') return rest;
  throw faultOf(word, rest);
}

const notOk = 79;

/** The same ahead of exchanges in the same round trip; what it answers is not told, unless it is no success. */
export function proxyScriptFirst(fence: Fence, script: string, input: string): FirstScript {
  const text = `said=$(${script})
case $said in ok|'ok '*) ;; *) printf %s "$said"; exit ${notOk} ;; esac`;
  const failure = ({ code, stderr }: RemoteOutcome) => {
    if (code !== notOk) return undefined;
    const { word, rest } = answerIn(stderr.toString('utf8'));
    return faultOf(word, rest);
  };
  return { text, args: fenceArguments(fence), input, failure };
}

function answerIn(said: string): { word: string; rest: string } {
  const [word = ''] = said.split(' ', 1);
  return { word, rest: said.slice(word.length + 1) };
}

function faultOf(word: string, rest: string): Fault {
  if (word === 'fenced') return fencedFault(rest.trim());
  const needsProxy = word === 'down' || word === 'missing';
  return new Fault(
    codes[word] ?? 'proxy_failed',
    sentences[word] ?? 'The proxy on the server could not be changed.',
    {
      evidence: rest.trim().slice(-4000),
      ...(needsProxy && { hint: provisionAgain }),
    },
  );
}

export function proxyDown(evidence: string): Fault {
  return new Fault('proxy_down', down, { evidence, hint: provisionAgain });
}

/** One that is started again answers soon: that is worth waiting for, a refusal is not. */
const codes: Partial<Record<string, FaultCode>> = { down: 'proxy_down', unfit: 'certificate_invalid' };

const provisionAgain = 'Provision the server again: that starts the proxy.';

const down = 'The proxy on the server does not run, or does not answer.';
const sentences: Record<string, string> = {
  down,
  missing: 'There is no proxy on the server.',
  refused: 'The proxy on the server refused the configuration; the one before is in force.',
  unfit: 'The proxy on the server refused the certificate; what it showed before is in force.',
  unproven: 'The proxy on the server does not show the certificate; what it showed before is in force again.',
  unsettled: 'The proxy on the server did not become what was asked of it.',
  wanted: 'A server that gets requests cannot be taken away.',
};
