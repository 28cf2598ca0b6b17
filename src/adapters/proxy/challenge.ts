/**
 * The certificate authority's question over HTTP, answered by the proxy for every name without asking anybody: the
 * answer is the token it was asked for and the thumbprint of the account's key, which is no secret.
 */
import { Fault } from '../../fault.ts';
import type { ProxyWork } from './fronts.ts';
import { settingsMapInside } from './places.ts';
import { proxyScript, runProxyScript } from './server-program.ts';

/** In force when it returns, without a reload, and kept for a proxy that is started again. */
export async function setChallengeThumbprint(work: ProxyWork, thumbprint: string): Promise<void> {
  if (!/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
    throw new Fault('invalid_input', 'A thumbprint is a SHA-256 in base64url.', { evidence: thumbprint });
  await runProxyScript(work, script, `${thumbprint}\n`);
}

const script = proxyScript(String.raw`
my $spec = <STDIN>; chomp $spec; my $map = q{${settingsMapInside}}; my $said = q{};
my $file = qq{$dir/config/settings.map}; my $before = slurp($file); my $after = qq{thumbprint $spec\n};
put($file, $after) unless defined $before && $before eq $after;
for my $try (1 .. 20) { my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
  my ($now) = order($pid, qq{show map $map}) =~ /^\S+ thumbprint (\S+)$/m;
  done(q{ok}, q{}) if defined $now && $now eq $spec;
  my $verb = defined $now ? q{set} : q{add}; $said = order($pid, qq{$verb map $map thumbprint $spec});
  pause(50) if $try > 1 }
done(q{unsettled}, $said);
`);
