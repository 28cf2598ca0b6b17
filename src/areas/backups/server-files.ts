/**
 * Files of backups on the server: dumps that were fetched to be tried or loaded, and uploads. Each work has a folder of
 * its own, named by its id and open to root alone; whoever ends the work takes the folder away.
 */
import { Readable } from 'node:stream';
import { hour } from '../../clock.ts';
import { Fault } from '../../fault.ts';
import type { Remote } from '../../remote/remote.ts';
import type { ServerFile } from './engines/engine.ts';

const root = '/var/lib/slipway/backups';
/** For one file; a slow line and a large dump need hours. */
const writeWithinMs = 12 * hour;
/** What is left free: a full disk would stop the databases that are to be saved. */
const spareBytes = 256 * 1024 * 1024;

const prepareScript = `
umask 077
mkdir -p -- "$1"
df --output=avail -B1 -- "$1" | tail -n 1
`;

/** Its size is what it says in the end: a connection that breaks looks like the end of the input. */
const writeScript = `
umask 077
cat > "$1"
stat -c %s -- "$1"
`;

const removeScript = 'rm -rf -- "$1"';

export interface ServerWork {
  readonly remote: Remote;
  readonly signal: AbortSignal;
}

export function folderOf(id: string): string {
  return `${root}/${id}`;
}

/** Makes the folder, and refuses where the disk would not hold so many bytes more. */
export async function prepareFolder(
  { remote, signal }: ServerWork,
  id: string,
  bytes: number,
): Promise<void> {
  const said = await remote.script(prepareScript, [folderOf(id)], { signal });
  const free = Number(said.toString('utf8').trim());
  if (!Number.isFinite(free))
    throw new Fault('remote_failed', 'The server does not say how full its disk is.');
  if (free < bytes + spareBytes) throw diskFull(free, bytes);
}

/** Whole, or with the fault of whatever broke it; then nothing of it counts. */
export async function writeServerFile(
  { remote, signal }: ServerWork,
  id: string,
  name: string,
  content: AsyncIterable<Buffer>,
): Promise<ServerFile> {
  const path = `${folderOf(id)}/${name}`;
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of content) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const input = Readable.from(counted(), { objectMode: false, highWaterMark: 256 * 1024 });
  const said = await remote.script(writeScript, [path], { input, signal, timeoutMs: writeWithinMs });
  if (Number(said.toString('utf8').trim()) !== bytes)
    throw new Fault('remote_failed', 'The server did not write the file as it was sent.');
  return { path, bytes };
}

export async function removeFolder({ remote, signal }: ServerWork, id: string): Promise<void> {
  await remote.script(removeScript, [folderOf(id)], { signal });
}

function diskFull(free: number, bytes: number): Fault {
  const inMb = (each: number) => Math.ceil(each / 1024 / 1024);
  return new Fault(
    'disk_full',
    `The server has ${inMb(free)} MB left, and ${inMb(bytes + spareBytes)} MB are needed.`,
    { hint: 'Make room on the server, then try again. Nothing was changed.' },
  );
}
