/**
 * The folder of a volume, and its copies next to it on the same file system, where Docker removes them together with the
 * volume. Containers mount the folder itself, not its name: a swap of names is seen by the next start only, so nothing may
 * run with it meanwhile. For data that is files alone, which we write ourselves; what a database server has to write is in
 * a volume of its own, and is swapped by `swap-volumes.ts`.
 */
import { volumeFolder } from '../../../../engine/data-host.ts';
import type { DockerHost } from '../../../../engine/docker-host.ts';
import { Fault } from '../../../../fault.ts';
import type { CopyName, SwapNames } from '../engine.ts';

/** The part of a folder's name that is ours. */
function requireCopyName(name: CopyName): CopyName {
  if (/^[a-z0-9_]{1,100}$/.test(name)) return name;
  throw new Fault('invalid_input', 'A copy is named with small letters, digits and `_`.', { evidence: name });
}

/** Whole, or not there: it is filled as the partial folder. */
export function copyFolder(folder: string, name: CopyName): string {
  return `${folder.slice(0, folder.lastIndexOf('/'))}/slipway-${requireCopyName(name)}`;
}

export function partialFolder(folder: string, name: CopyName): string {
  return `${copyFolder(folder, name)}.part`;
}

/**
 * `$1` live, `$2` staging, `$3` previous, `$4` the volume. Two renames, each done only from the state it belongs to: who
 * comes after a kill finds one of three states and goes on from there. A swap in one step would leave two that look
 * the same. Docker's list shows a container that was just stopped as running for a moment.
 */
const swapScript = `
tries=25
while users=$(docker ps --filter "volume=$4" --format '{{.Names}}') && [ -n "$users" ]; do
  tries=$((tries - 1))
  if [ "$tries" = 0 ]; then echo "$users"; exit 0; fi
  sleep 0.2
done
if [ -d "$1" ] && [ -d "$2" ] && [ ! -e "$3" ]; then mv -T -- "$1" "$3"; fi
if [ ! -e "$1" ] && [ -d "$2" ] && [ -d "$3" ]; then mv -T -- "$2" "$1"; fi
if [ ! -d "$1" ] || [ -e "$2" ] || [ ! -d "$3" ]; then
  echo 'the folders are not as they should be:' >&2
  ls -ld -- "$1" "$2" "$3" >&2 || :
  exit 1
fi
sync -- "\${1%/*}"
`;

export async function swapFolders(host: DockerHost, volume: string, names: SwapNames): Promise<void> {
  const { remote, fence, signal } = host;
  const folder = await volumeFolder(host, volume);
  await remote.fence(fence.scope, fence.epoch);
  const args = [folder, copyFolder(folder, names.staging), copyFolder(folder, names.previous), volume];
  const users = (await remote.script(swapScript, args, { signal })).toString('utf8').trim();
  if (users === '') return;
  throw new Fault('in_use', 'The data cannot be swapped while a container runs with it.', {
    evidence: users,
  });
}

export async function removeCopy(host: DockerHost, volume: string, name: CopyName): Promise<void> {
  const folder = await volumeFolder(host, volume).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'not_found') return undefined;
    throw error;
  });
  if (folder === undefined) return;
  const args = [copyFolder(folder, name), partialFolder(folder, name)];
  const limits = { signal: host.signal, timeoutMs: 600_000 };
  await host.remote.output(['rm', '-rf', '--one-file-system', '--', ...args], limits);
}
