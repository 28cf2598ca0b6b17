/** Files on the server, written atomically with their mode and owner. */
import { randomBytes } from 'node:crypto';
import { Fault } from '../../fault.ts';
import type { FileAttributes } from '../remote.ts';
import { type Commands, commandFailed } from './commands.ts';

const absentCode = 44;

/**
 * A connection that breaks looks to `cat` like the end of its input, so the size is checked before the name is. The
 * folder is synced as well: otherwise the new name may not survive a power cut.
 */
const writeScript = `
target=$1 temp=$2 mode=$3 owner=$4 size=$5
umask 077
set -C
trap 'rm -f -- "$temp"' EXIT
trap 'exit 1' HUP INT TERM PIPE
cat > "$temp"
if [ "$(stat -c %s -- "$temp")" != "$size" ]; then
  echo 'the content did not arrive whole' >&2
  exit 1
fi
if [ "$owner" != : ]; then chown -- "$owner" "$temp"; fi
chmod -- "$mode" "$temp"
sync -- "$temp"
mv -fT -- "$temp" "$target"
sync -- "\${target%/*}/"
`;

const readScript = `
if [ ! -e "$1" ]; then exit ${absentCode}; fi
if [ ! -f "$1" ]; then echo 'it is not a file' >&2; exit 1; fi
exec head -c "$2" -- "$1"
`;

export async function writeFile(
  commands: Commands,
  path: string,
  content: string | Buffer,
  attributes: FileAttributes,
): Promise<void> {
  requireAbsolute(path);
  const { mode, owner = '', group = '' } = attributes;
  const slash = path.lastIndexOf('/');
  const temp = `${path.slice(0, slash)}/.slipway-${randomBytes(8).toString('hex')}`;
  const size = String(Buffer.byteLength(content));
  const args = [path, temp, mode.toString(8).padStart(4, '0'), `${owner}:${group}`, size];
  await commands.script(writeScript, args, { input: content, timeoutMs: 120_000 });
}

export async function readFile(
  commands: Commands,
  path: string,
  { maxBytes = 4 * 1024 * 1024 }: { readonly maxBytes?: number } = {},
): Promise<Buffer | undefined> {
  requireAbsolute(path);
  const limit = maxBytes + 1;
  const outcome = await commands.runScript(readScript, [path, String(limit)], { maxOutputBytes: limit });
  if (outcome.code === absentCode) return undefined;
  if (outcome.code !== 0) throw commandFailed(['cat'], outcome);
  if (outcome.stdout.length > maxBytes) {
    throw new Fault('remote_failed', `The file is larger than ${maxBytes} bytes.`, { evidence: path });
  }
  return outcome.stdout;
}

function requireAbsolute(path: string): void {
  if (!path.startsWith('/') || path.endsWith('/')) {
    throw new Fault('invalid_input', 'A file on the server is named by its absolute path.', {
      evidence: path,
    });
  }
}
