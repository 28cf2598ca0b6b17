/**
 * What the program of a build asks Docker for. It outlives us, so it asks by itself; and over the API, because each start
 * of the `docker` program costs more than all of this. A constant text for the Perl that every Debian and Ubuntu has,
 * without single quotes. JSON is read whole: labels of an image are others' words, and could look like anything.
 *
 * `begin` tells Docker's version, whether images of earlier versions are there, the default bridge and who is on it;
 * `bridge` only the latter; `follow` a line for each container that comes to a network or leaves it; `end`, given owner,
 * tag and id of an image, names it and tells its ports and its user, both in JSON.
 */
export const builtRepositories = 'slipway-built';

const program = String.raw`
use strict; use warnings; use Socket; binmode STDOUT; $| = 1; my $head = q{};
sub ask_for { my ($method, $path) = @_; socket my $s, PF_UNIX, SOCK_STREAM, 0 or die qq{socket: $!\n};
  connect $s, pack_sockaddr_un(q{/var/run/docker.sock}) or die qq{Docker does not answer: $!\n};
  my $ask = qq{$method $path HTTP/1.0\r\nHost: docker\r\nContent-Length: 0\r\n\r\n};
  (syswrite($s, $ask) || 0) == length $ask or die qq{Docker does not listen: $!\n}; return $s }
sub ask { my ($method, $path) = @_; my $s = ask_for($method, $path); my $said = q{};
  while (sysread $s, $said, 65536, length $said) { }
  $said =~ s{^(HTTP/1\.[01] (\d+).*?)\r\n\r\n}{}s or die qq{Docker broke off\n}; $head = $1;
  die qq{Docker answered $2 to $method $path: $said\n} if $2 >= 300; return $said }
# Strings stay as they are written, with what is escaped in them.
sub value {
  if (/\G\s*\{/gc) { my %all; until (/\G\s*\}/gc) { /\G\s*,/gc; my $key = value(); /\G\s*:/gc or die qq{not JSON\n}; $all{$key} = value() } return \%all }
  if (/\G\s*\[/gc) { my @all; until (/\G\s*\]/gc) { /\G\s*,/gc; push @all, value() } return \@all }
  return $1 if /\G\s*"([^"\\]*+(?:\\.[^"\\]*+)*+)"/gcs; return $1 eq q{null} ? undef : $1 if /\G\s*([-+.\w]+)/gc; die qq{not JSON\n} }
sub read_json { local $_ = $_[0]; return value() }
sub query { my ($text) = @_; $text =~ s/([^A-Za-z0-9._-])/sprintf q{%%%02X}, ord $1/ge; return $text }
sub images { my ($filter, $value) = @_; return @{read_json(ask(q{GET}, q{/images/json?filters=} . query(qq<{"$filter":["$value"]}>)))} }
sub bridge { my $about = read_json(ask(q{GET}, q{/networks/bridge}));
  for (values %{$about->{Containers} || {}}) { for ($_->{IPv4Address}, $_->{IPv6Address}) { print qq{address $1\n} if defined $_ && m{^([0-9a-fA-F.:]+)} } }
  return $about->{Options}{q{com.docker.network.bridge.name}} || q{docker0} }
my ($what, $owner, $tag, $id) = @ARGV;
if ($what eq q{bridge}) { bridge() }
elsif ($what eq q{begin}) { print q{old }, (images(q{reference}, q{slipway/*}) ? q{yes} : q{no}), qq{\n};
  print q{version }, ($head =~ m{\r\nServer: Docker/(\d+)}i ? $1 : 0), qq{\n}; print q{bridge }, bridge(), qq{\n} }
elsif ($what eq q{follow}) { my $s = ask_for(q{GET}, q{/events?filters=} . query(q<{"event":["start","connect","disconnect"]}>));
  while (sysread $s, my $some, 65536) { $some =~ s{^HTTP/.*?\r\n\r\n}{}s; print qq{changed\n} if length $some } }
elsif ($what eq q{end}) {
  my ($repository) = map { m{^(${builtRepositories}/[0-9a-f]+):} ? $1 : () } map { @{$_->{RepoTags} || []} } images(q{label}, $owner);
  if (!defined $repository) { open my $random, q{<}, q{/proc/sys/kernel/random/uuid} or die qq{no name: $!\n}; ($repository = <$random>) =~ tr/0-9a-f//cd; $repository = qq{${builtRepositories}/$repository} }
  ask(q{POST}, qq{/images/$id/tag?repo=$repository&tag=$tag});
  my $config = read_json(ask(q{GET}, qq{/images/$id/json}))->{Config} || {}; my $user = defined $config->{User} ? $config->{User} : q{};
  print q<{>, join(q{,}, map { qq{"$_":1} } sort keys %{$config->{ExposedPorts} || {}}), qq<} "$user"\n> }
else { die qq{nothing to ask for\n} }
`;

/** A function for the shell. */
export const askingScript = `ask_docker() { perl -e '${program}' "$@"; }
`;
