/**
 * Whether members reach each other on the ports of a swarm, tried before any of them joins: each that is new answers there for
 * a moment, in the place of Docker, and all others ask it. Those that are in the swarm already are asked where Docker answers,
 * over TCP; what they hear over UDP nobody is told.
 */
import { swarmPorts } from '../../adapters/docker/swarm.ts';
import { Fault } from '../../fault.ts';
import type { Remote } from '../../remote/remote.ts';

export interface ReachMember {
  readonly name: string;
  readonly address: string;
  readonly remote: Remote;
  /** Not in the swarm yet. */
  readonly isNew: boolean;
  readonly isManager: boolean;
}

export interface Closed {
  readonly from: string;
  readonly to: string;
  readonly address: string;
  /** `7946/udp`, with what happened. */
  readonly ports: readonly string[];
}

export async function findClosed(members: readonly ReachMember[], signal: AbortSignal): Promise<Closed[]> {
  const answering = await Promise.allSettled(
    members.filter(({ isNew }) => isNew).map((each) => answer(each, signal)),
  );
  const ends = answering.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  try {
    for (const each of answering) if (each.status === 'rejected') throw each.reason;
    const found = await Promise.all(members.map((each) => askFrom(each, members, signal)));
    return found.flat();
  } finally {
    await Promise.all(ends.map((end) => end()));
  }
}

/** Ends with the connection too: its standard input is closed then. */
async function answer(member: ReachMember, signal: AbortSignal): Promise<() => Promise<unknown>> {
  const ports = portsOf(swarmPorts.tcp, swarmPorts.udp);
  const argv = ['perl', '-e', answerer, member.address, ...ports];
  const { stdin, stdout, stderr, ended } = await member.remote.stream(argv, { signal, timeoutMs: 60_000 });
  const said = stderr.toArray();
  // Not by a loop: leaving it would end the stream, and the program with it.
  const { done } = await stdout[Symbol.asyncIterator]().next();
  if (done) throw portTaken(member, Buffer.concat(await said).toString());
  return () => {
    stdin.end();
    return Promise.all([ended, said]);
  };
}

function portTaken({ name }: ReachMember, evidence: string): Fault {
  return new Fault('cluster_ports_closed', `On ${name}, another program has a port that Swarm needs.`, {
    hint: `Stop what listens there: Swarm needs ${portsOf(swarmPorts.tcp, swarmPorts.udp).join(', ')}.`,
    evidence: evidence.trim(),
  });
}

function portsOf(tcp: readonly number[], udp: readonly number[]): string[] {
  return [...tcp.map((port) => `${port}/tcp`), ...udp.map((port) => `${port}/udp`)];
}

/** A manager of the swarm hears on both; of the others only the gossip is asked. */
function askedOf({ isNew, isManager }: ReachMember): string[] {
  if (isNew) return portsOf(swarmPorts.tcp, swarmPorts.udp);
  return portsOf(isManager ? swarmPorts.tcp : swarmPorts.tcp.slice(1), []);
}

async function askFrom(
  from: ReachMember,
  members: readonly ReachMember[],
  signal: AbortSignal,
): Promise<Closed[]> {
  const asked = members.filter((to) => to !== from && (from.isNew || to.isNew));
  if (asked.length === 0) return [];
  const input = asked.flatMap((to) => askedOf(to).map((port) => `${to.address} ${port}\n`)).join('');
  const printed = (await from.remote.script(asker, [], { input, signal, timeoutMs: 60_000 })).toString();
  const problems = printed.split('\n').map((line) => line.split(' '));
  return asked.flatMap((to) => {
    const ports = problems.flatMap(([address, port, ...why]) =>
      address === to.address ? [`${port} (${why.join(' ')})`] : [],
    );
    return ports.length === 0 ? [] : [{ from: from.name, to: to.name, address: to.address, ports }];
  });
}

/**
 * Perl, as the relay: every Debian and Ubuntu has it. Says a word to whoever comes, until its own input ends. One that was left
 * behind by a link that went down has the ports still, and makes way.
 */
const answerer = String.raw`
use strict; use warnings; use IO::Socket::INET; use IO::Select; $| = 1; $SIG{PIPE} = q{IGNORE};
my $note = q{/run/.slipway-reach};
if (open my $f, q{<}, $note) { my ($old) = (<$f> // q{}) =~ m{^(\d+)$};
  if ($old && open my $c, q{<}, qq{/proc/$old/cmdline}) { local $/;
    if (<$c> =~ m{slipway-reach}) { kill q{KILL}, $old; select undef, undef, undef, 0.1 } } }
if (open my $f, q{>}, $note) { print $f $$; close $f }
END { unlink $note }
my $address = shift; my $all = IO::Select->new(\*STDIN); my %udp;
for my $each (@ARGV) { my ($port, $proto) = split m{/}, $each;
  my $s = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port, Proto => $proto, ReuseAddr => 1,
    ($proto eq q{tcp} ? (Listen => 20) : ())) or die qq{$each: $!\n};
  $udp{fileno $s} = 1 if $proto eq q{udp}; $all->add($s) }
print qq{ready\n}; my $until = time + 60;
while (time < $until) { for my $s ($all->can_read(1)) {
  if ($s == \*STDIN) { my $n = sysread STDIN, my $byte, 1; exit 0 unless $n }
  elsif ($udp{fileno $s}) { my $from = recv $s, my $word, 100, 0; send $s, q{slipway}, 0, $from if defined $from }
  else { my $c = $s->accept; if ($c) { syswrite $c, q{slipway}; close $c } } } }
`;

/** Prints what was not reached, and why. A packet may be lost, so UDP is asked three times. */
const asker = `exec perl -e '
use strict; use warnings; use IO::Socket::INET; use IO::Select; $| = 1; $SIG{PIPE} = q{IGNORE};
while (my $line = <STDIN>) { chomp $line; my ($address, $port, $proto) = $line =~ m{^(\\S+) (\\d+)/(\\w+)$} or next;
  my $s = IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port, Proto => $proto, Timeout => 3);
  if (!$s) { my $why = $! || $@; print qq{$address $port/$proto $why\\n}; next }
  next if $proto eq q{tcp}; my $heard = 0;
  for (1 .. 3) { send $s, q{slipway}, 0; if (IO::Select->new($s)->can_read(1) && defined recv $s, my $word, 100, 0) { $heard = 1; last } }
  print qq{$address $port/$proto no answer\\n} unless $heard }
'
`;
