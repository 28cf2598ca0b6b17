/**
 * Content stats of a folder: taken from the tar stream itself as it passes, so that it describes what was dumped and not
 * what the folder has become since. Perl takes the archive apart and gives one stream of entries to one `sha256sum`:
 * nothing of it is kept in memory, and no process is started per file. `perl-base` is essential on every Debian and
 * Ubuntu, its modules for digests are not.
 */
/**
 * The same folder gives the same archive: entries by name, numbers instead of users, no times that reading changes.
 * Holes are looked for in the content, since where a file system has them is its own affair.
 */
const packFolder = `pack() {
  LC_ALL=C tar --create --file=- --format=posix --sort=name --numeric-owner --xattrs --xattrs-include='*' --acls \\
    --sparse --hole-detection=raw --pax-option=delete=atime,delete=ctime --one-file-system --directory="$1" -- .
}`;

/**
 * Names that leave the folder are refused by tar itself, and links that could lead out of it are made last. A container
 * can make no devices, so an archive of its files has none; without the right to make them tar cannot either.
 */
const extractFolder = `extract() {
  LC_ALL=C setpriv --bounding-set=-mknod --inh-caps=-mknod tar --extract --file=- --numeric-owner --same-owner --preserve-permissions --xattrs \\
    --xattrs-include='*' --acls --delay-directory-restore --directory="$1"
}`;

/** In: the archive. Out: the archive, where the first argument is `pass`. On descriptor 3: the lines with the stats. */
const tarStats = String.raw`
use strict; use warnings; binmode STDIN; binmode STDOUT;
my $pass = $ARGV[0] eq q{pass}; my ($buffer, $at) = (q{}, 0);
pipe my $in, my $feed or die qq{no pipe: $!\n}; pipe my $sum, my $out or die qq{no pipe: $!\n};
my $child = fork; die qq{no process: $!\n} unless defined $child;
if (!$child) { open STDIN, q{<&}, $in; open STDOUT, q{>&}, $out; close $_ for $in, $feed, $sum, $out; exec q{sha256sum} or die qq{no sha256sum: $!\n} }
close $in; close $out; open my $told, q{>&=}, 3 or die qq{nowhere to tell: $!\n};
sub put { my $to = shift; my $done = 0;
  while ($done < length $_[0]) { my $n = syswrite $to, $_[0], length($_[0]) - $done, $done; die qq{cannot write: $!\n} unless defined $n; $done += $n } }
sub more { $buffer = substr $buffer, $at; $at = 0; my $had = length $buffer;
  my $n = sysread STDIN, $buffer, 1 << 20, $had; die qq{cannot read: $!\n} unless defined $n;
  put(*STDOUT, $had ? substr $buffer, $had : $buffer) if $pass && $n; return $n }
sub take { my ($size) = @_;
  while (length($buffer) - $at < $size) { more() or die qq{the archive ends early\n} }
  $at += $size; return substr $buffer, $at - $size, $size }
sub text { my ($value) = @_; $value =~ s/\0.*//s; return $value }
sub number { my ($value) = @_; die qq{a number is not octal\n} unless $value =~ /^ *([0-7]*)[ \0]*$/; return $1 eq q{} ? 0 : oct $1 }
my %count = map { $_ => 0 } qw(files folders symlinks hardlinks others bytes); my %pax; my $ended = 0;
while (1) { my $head = take(512);
  if ($head !~ /[^\0]/) { $ended = 1; last }
  my $kind = substr $head, 156, 1; my $size = exists $pax{size} ? $pax{size} : number(substr $head, 124, 12);
  my $padding = (512 - $size % 512) % 512;
  if ($kind eq q{x}) { my $records = take($size); take($padding);
    while ($records ne q{}) { $records =~ /^(\d+) / or die qq{a header is damaged\n};
      my $record = substr $records, 0, $1, q{}; $record =~ /^\d+ ([^=]+)=(.*)\n\z/s or die qq{a header is damaged\n}; $pax{$1} = $2 }
    next }
  die qq{an entry has the unknown kind $kind\n} unless $kind =~ /^[0-6]$/;
  my $prefix = text(substr $head, 345, 155); my $name = text(substr $head, 0, 100); $name = qq{$prefix/$name} if $prefix ne q{};
  my $path = delete $pax{path}; $path = $name unless defined $path; $path = delete $pax{q{GNU.sparse.name}} if exists $pax{q{GNU.sparse.name}};
  my $link = delete $pax{linkpath}; $link = text(substr $head, 157, 100) unless defined $link;
  my @numbers = map { my ($key, $from, $long) = @$_; my $value = delete $pax{$key}; defined $value ? $value : number(substr $head, $from, $long) }
    [q{mode}, 100, 8], [q{uid}, 108, 8], [q{gid}, 116, 8], [q{mtime}, 136, 12];
  my @device = $kind =~ /[34]/ ? map { number(substr $head, $_, 8) } 329, 337 : ();
  delete $pax{size}; delete $pax{atime}; delete $pax{ctime};
  my $length = exists $pax{q{GNU.sparse.realsize}} ? $pax{q{GNU.sparse.realsize}} : $size;
  my $about = join qq{\0}, $kind, $path, $link, @numbers, @device, $size, map { qq{$_=$pax{$_}} } sort keys %pax; %pax = ();
  put($feed, length($about) . qq{ $about});
  $count{$kind eq q{0} ? q{files} : $kind eq q{5} ? q{folders} : $kind eq q{2} ? q{symlinks} : $kind eq q{1} ? q{hardlinks} : q{others}} += 1;
  $count{bytes} += $length if $kind eq q{0};
  for (my $left = $size; $left > 0;) { more() or die qq{the archive ends early\n} if $at == length $buffer;
    my $n = length($buffer) - $at; $n = $left if $left < $n; put($feed, substr $buffer, $at, $n); $at += $n; $left -= $n }
  take($padding) }
$at = length $buffer; while (more()) { $at = length $buffer }
close $feed; my $line = <$sum>; waitpid $child, 0; die qq{no digest came out\n} unless defined $line && $line =~ /^([0-9a-f]{64})/ && $ended;
my @named = ([files => q{files}], [folders => q{folders}], [symlinks => q{symbolic links}], [hardlinks => q{hard links}], [others => q{pipes and devices}], [bytes => q{bytes}]);
print {$told} map { qq{\@stat ["$$_[1]",$count{$$_[0]}]\n} } @named; print {$told} qq{\@stat ["digest of names, owners, modes, times and contents","$1"]\n};
close $told or die qq{cannot tell: $!\n};
`;

/** For Bash: `pack FOLDER`, `extract FOLDER`, and `stats pass` or `stats count` between them. */
export const tarFunctions = `
${packFolder}
${extractFolder}
stats() { perl -e '${tarStats}' "$1"; }
`;
