/**
 * The files of a build on their way to the server, in one round trip: first the small ones, each as long as the
 * arguments say, then the tar, then a mark. They are gathered beside their place, and put there only once the mark has
 * come: a connection that breaks looks like the end of the input, and a tar that ends between two files looks whole.
 */
import { Readable } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { Fence, Remote } from '../../remote/remote.ts';
import { fenceScript } from '../../remote/units/unit-scripts.ts';
import { asFencedFault, fenceArguments } from '../../remote/units/units.ts';
import { isDiskFull } from './ask.ts';

export interface ContextFile {
  /** `Dockerfile`, `secrets/<KEY>` … */
  readonly path: string;
  readonly content: Buffer | string;
  readonly mode: number;
}

export interface ContextSpec {
  /** Closed to others; whatever was there is replaced. Its last part is the name of no other build. */
  readonly folder: string;
  /** Unpacked into `context-<the folder's own name>/`. */
  readonly tar: Readable;
  readonly files: readonly ContextFile[];
  readonly fence: Fence;
}

/**
 * `$context`, of `$folder`. BuildKit keeps the files of a context, and takes those of the next one for the same where
 * their paths, sizes and times are; Buildx tells contexts apart by the last part of their paths alone. Two commits of one
 * second, of whatever projects, would be built from each other's files.
 */
export const contextNameScript = 'context=context-$(basename "$folder")';

const mark = '\nslipway: that was all of it\n';
const timeoutMs = 30 * 60_000;

/** Passes on all but the mark; says so only where it came. */
const pump = `
binmode STDIN; binmode STDOUT; my ($mark, $whole, $held) = (qq{${mark.replaceAll('\n', '\\n')}}, shift, q{});
while (1) { my $n = sysread STDIN, $held, 262144, length $held; die qq{read: $!\\n} unless defined $n; last if $n == 0;
  my $free = length($held) - length($mark); next if $free <= 0;
  my $at = 0; while ($at < $free) { my $w = syswrite STDOUT, $held, $free - $at, $at; die qq{write: $!\\n} unless defined $w; $at += $w }
  $held = substr $held, $free }
die qq{the files did not arrive whole\\n} unless $held eq $mark;
open my $f, q{>}, $whole or die qq{$whole: $!\\n}; close $f or die qq{$whole: $!\\n};
`;

/**
 * `$1` scope, `$2` epoch, `$3` folder, then path, mode and size of each small file. The fence is claimed first, and
 * again before the folder is put in its place: who was replaced meanwhile must not replace what its successor sent.
 * What an earlier try left half, because it was killed, is removed with the first claim, or by `removeContext`; if its
 * sender still lives, it fails.
 */
const sendScript = `
scope=$1 epoch=$2 folder=$3
shift 3
${contextNameScript}
umask 077
mkdir -p "$(dirname "$folder")"
(
  set -- "$scope" "$epoch"
  ${fenceScript}
  rm -rf "$folder".new-*
)
new=$(mktemp -d "$folder.new-XXXXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM PIPE
# A folder of somebody else may go between its name and the look at it: what is left now goes the next time.
find "$(dirname "$folder")" -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + 2> /dev/null || true
mkdir "$new/$context"
chmod 755 "$new/$context"
while [ "$#" -gt 0 ]; do
  mkdir -p "$(dirname "$new/$1")"
  if [ "$3" = 0 ]; then : >"$new/$1"
  else dd bs="$3" count=1 iflag=fullblock status=none >"$new/$1"
  fi
  if [ "$(stat -c %s "$new/$1")" != "$3" ]; then
    echo 'the files did not arrive whole' >&2
    exit 1
  fi
  chmod "$2" "$new/$1"
  shift 3
done
perl -e '${pump}' "$new/whole" | tar -x -p -f - -C "$new/$context" --no-same-owner
if [ ! -e "$new/whole" ]; then exit 1; fi
(
  set -- "$scope" "$epoch"
  ${fenceScript}
  rm -rf "$folder"
  mv -T "$new" "$folder"
)
`;

export async function sendContext(remote: Remote, spec: ContextSpec, signal?: AbortSignal): Promise<void> {
  const { folder, tar, files, fence } = spec;
  mustBeFolder(folder);
  const contents = files.map(({ content }) => Buffer.from(content));
  const table = files.flatMap(({ path, mode }, index) => {
    if (
      !/^[A-Za-z0-9_][A-Za-z0-9_.-]*(\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/.test(path) ||
      path.startsWith('context')
    )
      throw new Fault('invalid_input', 'A file of a build has a name that cannot be one.', {
        evidence: path,
      });
    return [path, mode.toString(8), String(contents[index]?.length ?? 0)];
  });
  const input = Readable.from(bytesOf(contents, tar), { objectMode: false });
  const args = [...fenceArguments(fence), folder, ...table];
  try {
    await remote.script(sendScript, args, { input, timeoutMs, ...(signal && { signal }) });
  } catch (error) {
    throw told(error);
  } finally {
    tar.destroy();
  }
}

async function* bytesOf(contents: readonly Buffer[], tar: Readable): AsyncGenerator<Buffer> {
  for (const each of contents) if (each.length > 0) yield each;
  for await (const chunk of tar) yield chunk;
  yield Buffer.from(mark);
}

/** It is all in what the script printed: how it ended is not told apart there. */
function told(error: unknown): unknown {
  const fencedFault = asFencedFault(error);
  if (fencedFault) return fencedFault;
  if (!(error instanceof Fault) || error.code !== 'remote_failed') return error;
  const { evidence = '' } = error;
  if (!isDiskFull(evidence)) return error;
  return new Fault('disk_full', 'The disk of the server is full; the files of the build do not fit.', {
    hint: 'Free some space on the server, then deploy again.',
    evidence,
  });
}

/** With everything in it, the secrets too. Removing it twice does no harm. */
export async function removeContext(remote: Remote, folder: string): Promise<void> {
  mustBeFolder(folder);
  await remote.script('rm -rf "$1" "$1".new-*', [folder]);
}

function mustBeFolder(folder: string): void {
  if (/^(\/[a-z0-9_][a-z0-9._-]*){3,}$/.test(folder) && !folder.includes('..')) return;
  throw new Fault('invalid_input', 'The folder of a build is a path of ours, at least three deep.', {
    evidence: folder,
  });
}
