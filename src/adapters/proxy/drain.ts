/** Letting servers go: their requests are counted until there are none, in workers from before a reload too. */
import type { EnvironmentId } from '../../ids.ts';
import type { FirstScript } from '../../remote/remote.ts';
import type { ProxyWork } from './fronts.ts';
import { backendOf, frontFileOf } from './places.ts';
import { mustBeServerName } from './render-front.ts';
import { proxyScript, proxyScriptFirst, runProxyScript } from './server-program.ts';
import { type FrontChange, orderOf, settleScript } from './settle.ts';

/**
 * Waits until none of these servers has a request, or the time is up: how many each has left, none where it has none.
 * An open WebSocket is a request that has not ended.
 */
export async function drained(
  work: ProxyWork,
  id: EnvironmentId,
  names: readonly string[],
  { forMs }: { readonly forMs: number },
): Promise<ReadonlyMap<string, number>> {
  const input = drainOrder(id, names, forMs);
  return leftIn(await runProxyScript(work, drainedScript, input, { timeoutMs: forMs + 60_000 }));
}

/** A change, and then the same, in one round trip. Others can change the proxy while requests are counted. */
export async function settleAndDrain(
  work: ProxyWork,
  change: FrontChange,
  names: readonly string[],
  { forMs }: { readonly forMs: number },
): Promise<ReadonlyMap<string, number>> {
  const order = orderOf(change);
  const options = { timeoutMs: forMs + 180_000, more: [String(Buffer.byteLength(order))] };
  const input = `${order}${drainOrder(change.id, names, forMs)}`;
  return leftIn(await runProxyScript(work, settleAndDrainScript, input, options));
}

function drainOrder(id: EnvironmentId, names: readonly string[], forMs: number): string {
  names.forEach(mustBeServerName);
  return `${[backendOf(id), String(Math.max(0, Math.trunc(forMs))), ...names].join('\n')}\n`;
}

function leftIn(said: string): ReadonlyMap<string, number> {
  const lines = said.split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [name = '', count] = line.split(' ');
      return [name, Number(count)];
    }),
  );
}

/**
 * Takes them out of the running proxy, cutting what they still have there; a worker from before a reload keeps what it has
 * until the server itself goes. Not those that the front's file gives requests.
 */
export async function dismiss(work: ProxyWork, id: EnvironmentId, names: readonly string[]): Promise<void> {
  if (names.length > 0) await runProxyScript(work, dismissScript, dismissOrder(id, names));
}

/** The same ahead of exchanges in the same round trip. */
export function dismissFirst({ fence }: ProxyWork, id: EnvironmentId, names: readonly string[]): FirstScript {
  return proxyScriptFirst(fence, dismissScript, dismissOrder(id, names));
}

function dismissOrder(id: EnvironmentId, names: readonly string[]): string {
  names.forEach(mustBeServerName);
  return `${[backendOf(id), frontFileOf(id), ...names].join('\n')}\n`;
}

const drainedProgram = String.raw`
my ($backend, $for, @names) = map { chomp; $_ } <STDIN>; my $until = now() + $for; my %left;
while (1) { my @all = workers(); done(q{down}, q{the proxy does not answer}) unless @all; %left = ();
  for my $pid (@all) { my $seen = counts($pid, $backend);
    for (@names) { $left{$_} += $seen->{$_} if $seen->{$_} } }
  last if !%left || now() >= $until;
  pause(50) }
done(q{ok}, join q{}, map { qq{$_ $left{$_}\n} } sort keys %left);
`;

const dismissProgram = `
my ($backend, $file, @names) = map { chomp; $_ } <STDIN>; my $wanted = slurp(qq{$dir/config/$file}); my $said = q{};
for (@names) { done(q{wanted}, $_) if defined $wanted && index($wanted, qq{server $_ }) >= 0 }
for my $try (1 .. 100) { my $left = 0; my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
  my $seen = servers($pid, $backend); done(q{ok}, q{}) unless $seen;
  for my $name (grep { $seen->{$_} } @names) { my $which = qq{$backend/$name};
    $said = order($pid, qq{set server $which state maint}, qq{shutdown sessions server $which}, qq{del server $which});
    $left += 1 unless $said =~ /Server deleted/ }
  done(q{ok}, q{}) unless $left;
  pause(50) }
done(q{unsettled}, $said);
`;

const drainedScript = proxyScript(drainedProgram, { isLocked: false });
const dismissScript = proxyScript(dismissProgram);

/** `$3` the size of the first one's input. */
const settleAndDrainScript = `said=$(dd bs="$3" count=1 iflag=fullblock status=none | (
${settleScript}))
case $said in ok|'ok '*) ;; *) printf %s "$said"; exit 0 ;; esac
${drainedScript}`;
