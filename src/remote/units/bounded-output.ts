/**
 * What a unit may print is bounded on the server itself, where nobody of us may be alive: the beginning goes into the
 * file as it comes, of the rest only the end is kept, in memory, and appended when the unit ends. So the file only ever
 * grows, and whoever reads it at an offset finds what was there before. What is left out is still read: a program that
 * prints without end neither blocks nor dies of it.
 */
const kibibyte = 1024;

const outputLimits = {
  headBytes: 8 * kibibyte * kibibyte,
  headLines: 100_000,
  tailBytes: 512 * kibibyte,
  tailLines: 5_000,
} as const;

/** More than any unit leaves, with our own lines. A server that sends more than that is not read on. */
export const mostUnitBytes = outputLimits.headBytes + outputLimits.tailBytes + 4 * kibibyte;

const { headBytes, headLines, tailBytes, tailLines } = outputLimits;

/**
 * Runs `$dir/command` and ends as it does. Its arguments: the unit's folder. Both cuts are made between lines where there
 * is one, so that a secret is not cut in two, which nobody would find then. A process that the command left behind may
 * hold the pipe open: what the command itself has printed is in the pipe when it ends, and that is at most a mebibyte.
 * The handler of SIGCHLD does nothing but end the waiting: without one the end would be noticed only with the next look.
 * No single quote: it stands in a script of the shell.
 */
export const boundedRun = String.raw`
use strict; use warnings;
my ($dir) = @ARGV; my ($most, $most_lines, $end, $end_lines) = (${headBytes}, ${headLines}, ${tailBytes}, ${tailLines});
open my $out, q{>>}, qq{$dir/output} or die qq{no output: $!\n}; pipe my $from, my $to or die qq{no pipe: $!\n};
$SIG{CHLD} = sub {}; my $child = fork; die qq{no process: $!\n} unless defined $child;
if (!$child) { open STDOUT, q{>&}, $to; open STDERR, q{>&}, $to; close $_ for $from, $to, $out; exec q{sh}, qq{$dir/command} or die qq{no shell: $!\n} }
close $to; my ($shown, $lines, $is_over, $is_open, $rest, $rest_lines, $tail) = (0, 0, 0, 0, 0, 0, q{});
sub put { my ($text) = @_; my $done = 0; return if $text eq q{}; $is_open = substr($text, -1) ne qq{\n};
  while ($done < length $text) { my $n = syswrite $out, $text, length($text) - $done, $done; return unless defined $n; $done += $n } }
sub note { my ($text) = @_; put(($is_open ? qq{\n} : q{}) . qq{[Slipway: $text]\n}) }
sub take { my ($piece) = @_; my $new = ($piece =~ tr/\n//);
  if (!$is_over && $shown + length $piece <= $most && $lines + $new <= $most_lines) { put($piece); $shown += length $piece; $lines += $new; return }
  if (!$is_over) { my $fits = substr $piece, 0, $most - $shown; my ($left, $at) = ($most_lines - $lines, 0);
    while ($left > 0) { my $next = index $fits, qq{\n}, $at; last if $next < 0; $at = $next + 1; $left -= 1 }
    $at = length $fits if $at == 0 && $left > 0; put(substr $piece, 0, $at, q{}); $is_over = 1;
    note(qq{more than $most bytes or $most_lines lines were printed; from here on only the end is kept}) }
  $rest += length $piece; $rest_lines += ($piece =~ tr/\n//); $tail .= $piece; $tail = substr $tail, -$end if length $tail > 2 * $end }
my ($status, $after) = (undef, 0);
while (1) {
  if (!defined $status && waitpid($child, 1) == $child) { $status = $? }
  my $ready = q{}; vec($ready, fileno $from, 1) = 1;
  if (select($ready, undef, undef, defined $status ? 0 : 0.2) < 1) { last if defined $status; next }
  my $n = sysread $from, my $piece, 65536; last unless $n;
  take($piece); if (defined $status) { $after += $n; last if $after > 1 << 20 } }
if (!defined $status) { waitpid $child, 0; $status = $? }
if ($is_over) { $tail = substr $tail, -$end if length $tail > $end;
  my ($at, $left) = (length $tail, $end_lines + 1); while ($left > 0 && $at > 0) { $at = rindex($tail, qq{\n}, $at - 1); last if $at < 0; $left -= 1 }
  $tail = substr $tail, $at + 1 if $left == 0;
  if (length $tail < $rest) { my $first = index $tail, qq{\n}; $tail = substr $tail, $first + 1 if $first >= 0 && $first + 1 < length $tail }
  my ($lost, $lost_lines) = ($rest - length $tail, $rest_lines - ($tail =~ tr/\n//));
  note(qq{$lost bytes, $lost_lines lines were left out here}) if $lost > 0; put($tail) }
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
`;
