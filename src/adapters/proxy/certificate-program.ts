/**
 * Certificates on the server itself: the file, the list of names, the running proxy, and the proof by a handshake. The
 * running proxy is offered a certificate before a file is touched, and makes it its own in one step; what it had before
 * is put back where the proof fails.
 */
import { certificateListInside, defaultCertificateInside } from './places.ts';
import { proxyScript } from './server-program.ts';

/** What the runtime socket takes at once. A larger one, with hundreds of names, is taken over by a reload. */
const mostBytesAtOnce = 15_000;

const common = String.raw`
umask 077;
my $list = q{${certificateListInside}}; my $names_file = qq{$dir/config/certificates.list}; my $default = q{${defaultCertificateInside}};
sub place { return qq{$inside/certificates/$_[0].pem} }
sub file_of { return qq{$dir/certificates/$_[0].pem} }
# An empty line ends what is handed over.
sub hand { my ($pid, $command, $text) = @_; my $said = ask(qq{\@!$pid $command <<\n$text}); return defined $said ? $said : q{no answer} }
sub stored { my ($pid) = @_; my $said = order($pid, q{show ssl cert}); my @all = $said =~ m{^(/\S+\.pem)$}mg; return map { $_ => 1 } @all }
# Of one who was killed: nobody else could begin one.
sub clear { my ($pid) = @_; my @left = order($pid, q{show ssl cert}) =~ m{^\*(\S+)$}mg; order($pid, map { qq{abort ssl cert $_} } @left) }
sub shown { my ($pid) = @_; my @found;
  for (split /\n/, order($pid, qq{show ssl crt-list -n $list})) { push @found, { path => $1, line => $2, text => defined $3 ? qq{$1 $3} : $1 } if m{^(/\S+):(\d+)(?: (\S.*))?$} }
  return @found }
sub written { my $text = slurp($names_file); return grep { length } split /\n/, defined $text ? $text : q{} }
sub write_list { my (@lines) = @_; my $after = join q{}, map { qq{$_\n} } $default, sort grep { $_ ne $default } @lines; my $before = slurp($names_file);
  put($names_file, $after) unless defined $before && $before eq $after }
# What is new comes before what was there goes: no name is without its certificate for a moment.
sub bring_list { my ($pid) = @_; my $said = q{};
  for my $try (1 .. 20) { my (%have, @extra); my %want = map { $_ => 1 } written();
    for (shown($pid)) { if ($want{$_->{text}} && !$have{$_->{text}}) { $have{$_->{text}} = 1 } else { push @extra, $_ } }
    my @missing = grep { !$have{$_} } sort keys %want;
    return undef unless @missing || @extra;
    my $failed = 0; $said = q{};
    for (@missing) { my $one = hand($pid, qq{add ssl crt-list $list}, qq{$_\n}); $said .= $one; $failed = 1 unless $one =~ /^Success!/m }
    $said .= order($pid, map { qq{del ssl crt-list $list $_->{path}:$_->{line}} } @extra) unless $failed;
    pause(50) if $try > 1 }
  return $said }
`;

const installProgram = String.raw`${common}
my %w;
while (defined(my $line = <STDIN>)) { chomp $line; my ($key, @rest) = split / /, $line; $w{$key} = \@rest; last if $key eq q{content} }
sub take { my ($size) = @_; my $text = q{}; while (length $text < $size) { read STDIN, $text, $size - length $text, length $text or die qq{the input ended early\n} } return $text }
die qq{the input ended early\n} unless $w{content};
my ($leaf, $pem) = (take($w{leaf}[0]), take($w{content}[0])); open STDIN, q{<}, q{/dev/null} or die qq{/dev/null: $!\n};
my $id = $w{id}[0]; my @names = @{$w{names}}; my ($path, $file) = (place($id), file_of($id));

sub bare { my ($text) = @_; my ($inner) = $text =~ /-----BEGIN CERTIFICATE-----(.*?)-----END/s; return q{} unless defined $inner; $inner =~ s/\s//g; return $inner }
sub served { my ($name) = @_; $name =~ s/^\*/slipway-proof/;
  open my $p, q{-|}, q{sh}, q{-c}, q{exec timeout 10 openssl s_client -connect 127.0.0.1:443 -servername "$1" 2> /dev/null}, q{sh}, $name or die qq{openssl: $!\n};
  local $/; my $said = <$p>; close $p; return bare(defined $said ? $said : q{}) }
sub unproven { for my $name (@names) { my $tries = 0;
    until (served($name) eq bare($leaf)) { $tries += 1; return qq{$name is answered with another certificate\n} if $tries > 20; pause(100) } }
  return undef }
sub offer { my ($pid, $text) = @_; my %known = stored($pid); order($pid, qq{new ssl cert $path}) unless $known{$path};
  my $said = hand($pid, qq{set ssl cert $path}, $text); return undef if $said =~ /^Transaction (created|updated) for/m;
  order($pid, qq{abort ssl cert $path}); order($pid, qq{del ssl cert $path}) unless $known{$path}; return $said }
sub commit { my ($pid) = @_; my $said = order($pid, qq{commit ssl cert $path}); return $said =~ /^Success!/m ? undef : $said }

my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
clear($pid);
my $old = slurp($file); my @before = written(); my $is_bad = 0;
my $is_large = length $pem > ${mostBytesAtOnce} || defined $old && length $old > ${mostBytesAtOnce};
unless ($is_large) { my $wrong = offer($pid, $pem); done(q{unfit}, $wrong) if defined $wrong }
# It takes its names from whichever certificate was shown for them.
my %taken = map { $_ => 1 } @names; my @others;
for (@before) { my ($other, @of) = split / /; next if $other eq $path || $other eq $default; @of = grep { !$taken{$_} } @of; push @others, join q{ }, $other, @of if @of }
put($file, $pem) unless defined $old && $old eq $pem;
write_list(@others, join q{ }, $path, @names);
my $wrong;
if ($is_large) { $wrong = checked(); $is_bad = defined $wrong; $wrong = reload() unless $is_bad }
else { $wrong = commit($pid); $wrong = bring_list($pid) unless defined $wrong; $is_bad = defined $wrong }
$wrong = unproven() unless defined $wrong;
done(q{ok}, q{}) unless defined $wrong;
put($file, $old) if defined $old;
write_list(@before);
if ($is_large) { reload() unless $is_bad }
else { clear($pid); if (defined $old) { offer($pid, $old); commit($pid) } bring_list($pid) }
unless (defined $old) { order($pid, qq{del ssl cert $path}); unlink $file }
done($is_bad ? q{unfit} : q{unproven}, $wrong);
`;

const removeProgram = String.raw`${common}
my $id = <STDIN>; chomp $id; my ($path, $file) = (place($id), file_of($id));
write_list(grep { !/^\Q$path\E( |$)/ } written());
my ($pid) = workers(); done(q{down}, q{the proxy does not answer}) unless defined $pid;
clear($pid); my $said = bring_list($pid);
for my $try (1 .. 20) { last if defined $said; my %known = stored($pid); last unless $known{$path};
  my $answer = order($pid, qq{del ssl cert $path}); %known = stored($pid); last unless $known{$path};
  $said = $answer if $try == 20; pause(50) }
done(q{unsettled}, $said) if defined $said;
unlink $file or !-e $file or die qq{$file: $!\n};
done(q{ok}, q{});
`;

/** The leaf of each file, without the key, and what the running proxy says of the same. */
const readProgram = String.raw`${common}
my @rows; my $id = qr{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}};
opendir my $folder, qq{$dir/certificates} or die qq{$dir/certificates: $!\n};
for (sort readdir $folder) { next unless /^($id)\.pem$/; my $one = $1; my $text = slurp(file_of($one));
  my ($inner) = $text =~ /-----BEGIN CERTIFICATE-----(.*?)-----END/s; $inner = q{-} unless defined $inner; $inner =~ s/\s//g; push @rows, qq{file $one $inner} }
for (written()) { push @rows, qq{written $1$2} if m{/certificates/($id)\.pem(.*)$} }
my ($pid) = workers();
if (defined $pid) { push @rows, q{runs}; my %known = stored($pid);
  for (shown($pid)) { push @rows, qq{shown $1$2} if $_->{text} =~ m{/certificates/($id)\.pem(.*)$} }
  my @ours = grep { m{/certificates/$id\.pem$} } sort keys %known; my $one;
  for (split /\n/, order($pid, map { qq{show ssl cert $_} } @ours)) {
    if (m{^Filename: .*/($id)\.pem$}) { $one = $1 } elsif (defined $one && /^(notAfter|SHA1 FingerPrint): (.*)$/) { my $what = $1 eq q{notAfter} ? q{until} : q{has}; push @rows, qq{$what $one $2} } } }
done(q{ok}, join qq{\n}, @rows);
`;

export const installScript = proxyScript(installProgram);
export const removeScript = proxyScript(removeProgram);
export const readScript = proxyScript(readProgram, { isLocked: false });
