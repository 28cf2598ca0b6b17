/**
 * Files of backups on the server: dumps that were fetched to be verified or loaded, and uploads. Each work has a folder of
 * its own, named by its id and open to root alone; whoever ends the work removes the folder. A worker that was replaced
 * while it was paused must neither remove nor overwrite what its successor reads: each call is fenced.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { hour } from '../../../clock.ts';
import { Fault } from '../../../fault.ts';
import type { Fence, Remote } from '../../../remote/remote.ts';
import { fenceScript } from '../../../remote/units/unit-scripts.ts';
import { asFencedFault, fenceArguments } from '../../../remote/units/units.ts';
import type { ServerFile } from './engine.ts';
import { reserveBytes } from './run-unit.ts';

const root = '/var/lib/slipway/backups';
/** For one file; a slow line and a large dump need hours. */
const writeTimeoutMs = 12 * hour;

/**
 * `$1` scope, `$2` epoch, as in all of them; then the folder. It is made under the lock of the fence: one made a moment later could
 * come after its removal by a successor, and nobody would remove it again.
 */
const prepareScript = `
umask 077
(
  ${fenceScript}
  mkdir -p -- "$3"
)
df --output=avail -B1 -- "$3" | tail -n 1
`;

/**
 * `$1` the file, `$2` the bytes that stay free. Prints the size of the file, since a connection that breaks looks like the
 * end of the input, and what there was room for: how long an upload is need not be known before.
 */
const writeScript = `
umask 077
room=$(($(df --output=avail -B1 -- "\${1%/*}" | tail -n 1) - $2))
if [ "$room" -lt 0 ]; then room=0; fi
head -c "$room" > "$1"
echo "$(stat -c %s -- "$1") $room"
`;

/** Under the lock of the fence, as is the removal. */
const moveScript = `${fenceScript}
mv -fT -- "$3" "$4"
`;

const removeScript = `${fenceScript}
rm -rf -- "$3"
`;

export interface FencedRemote {
  readonly remote: Remote;
  readonly signal: AbortSignal;
  /** None where there is no worker yet, or none any more. */
  readonly fence?: Fence;
}

export function workFolder(id: string): string {
  return `${root}/${id}`;
}

/** Makes the folder, and refuses where the disk would not hold so many bytes more. */
export async function prepareFolder(work: FencedRemote, id: string, bytes: number): Promise<void> {
  const output = await fenced(work, prepareScript, [workFolder(id)]);
  const free = Number(output.toString('utf8').trim());
  if (!Number.isFinite(free))
    throw new Fault('remote_failed', 'The server does not tell how much space its disk has left.');
  if (free < bytes + reserveBytes) throw diskFull(free, bytes);
}

/** The file is there whole, or not at all. */
export async function writeServerFile(
  work: FencedRemote,
  id: string,
  name: string,
  content: AsyncIterable<Buffer>,
): Promise<ServerFile> {
  const { remote, signal } = work;
  const path = `${workFolder(id)}/${name}`;
  // Each attempt has a file of its own: one whose connection broke may go on writing for a while.
  const partial = `${path}.part-${randomBytes(8).toString('hex')}`;
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of content) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const input = Readable.from(counted(), { objectMode: false, highWaterMark: 256 * 1024 });
  const args = [partial, String(reserveBytes)];
  const output = await remote.script(writeScript, args, { input, signal, timeoutMs: writeTimeoutMs });
  const [written = 0, room = 0] = output.toString('utf8').trim().split(' ').map(Number);
  if (written !== bytes && written >= room) throw diskFull(room + reserveBytes, bytes);
  if (written !== bytes)
    throw new Fault('remote_failed', 'The file on the server is not as long as what was sent.');
  await fenced(work, moveScript, [partial, path]);
  return { path, bytes };
}

export async function removeFolder(work: FencedRemote, id: string): Promise<void> {
  await fenced(work, removeScript, [workFolder(id)]);
}

async function fenced(
  { remote, signal, fence }: FencedRemote,
  script: string,
  args: readonly string[],
): Promise<Buffer> {
  try {
    return await remote.script(script, [...fenceArguments(fence), ...args], { signal });
  } catch (error) {
    throw asFencedFault(error) ?? error;
  }
}

function diskFull(free: number, bytes: number): Fault {
  const inMb = (each: number) => Math.ceil(each / 1024 / 1024);
  return new Fault(
    'disk_full',
    `The server has ${inMb(free)} MB left, and ${inMb(bytes + reserveBytes)} MB are needed.`,
    { hint: 'Free some space on the server, then try again. Nothing was changed.' },
  );
}
