/**
 * Swaps whole volumes: a staging volume, whose folder takes the place of the live one's while the container is stopped.
 * Volumes of Docker's own driver are folders of one file system, so each step is one rename; what has been done shows
 * from what is there, and the next call goes on from that. `volume/volume-folders.ts` does it without a second volume;
 * here a second server of the database runs on the staging copy, and a container can only be given a volume that Docker
 * knows.
 */
import { dropVolume, whileStopped } from '../../../engine/data-host.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { labelsOf, serviceLabel } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import type { CopyName, ServiceSource, SwapNames } from './engine.ts';

/** Docker's name of a staging or previous copy. */
export function copyVolume(volume: string, name: CopyName): string {
  return `${volume}-${name}`;
}

/**
 * `$1` live, `$2` staging, `$3` previous: names of volumes, of which `$3` has been made. Without a live folder the first
 * rename was the last that was done; without a staging one, both were, or there is nothing to take back.
 */
const swapScript = `
folder() { docker volume inspect --format '{{.Mountpoint}}' "$1" 2>/dev/null || :; }
live=$(folder "$1")
staging=$(folder "$2")
previous=$(folder "$3")
if [ -z "$live" ] || [ -z "$previous" ]; then echo 'a volume is missing' >&2; exit 1; fi
holds() { [ -n "$1" ] && [ -d "$1" ] && [ -n "$(ls -A "$1")" ]; }
if ! holds "$staging"; then
  if [ -d "$live" ] && holds "$previous"; then exit 0; fi
  echo 'there is no staging copy' >&2
  exit 1
fi
if [ -d "$live" ]; then
  if holds "$previous"; then echo 'there is another previous copy already' >&2; exit 1; fi
  mv -fT "$live" "$previous"
fi
mv -T "$staging" "$live"
sync -f "$live"
`;

/** Stops the container for it, and starts it again also where it fails. Nothing may use the staging volume any more. */
export async function swapVolumes(
  host: DockerHost,
  { container, volume, kind }: ServiceSource,
  names: SwapNames,
): Promise<void> {
  const [staging, previous] = [copyVolume(volume, names.staging), copyVolume(volume, names.previous)];
  const swap = async () => {
    await host.remote.script(swapScript, [volume, staging, previous], { timeoutMs: 300_000 });
  };
  const stopped = { name: container, stopSeconds: kinds[kind].stopSeconds };
  const make = { name: previous, labels: copyLabels(host, volume) };
  await swapped(whileStopped(host, stopped, swap, { make, drop: staging }));
}

/** What went wrong on the server, in words for who restores. */
export async function swapped(swapping: Promise<void>): Promise<void> {
  try {
    await swapping;
  } catch (error) {
    if (error instanceof Fault && error.code === 'remote_failed') throw notSwapped(error);
    throw error;
  }
}

function notSwapped(error: Fault): Fault {
  return new Fault('restore_failed', 'The data could not be swapped; what was live is live.', {
    evidence: error.evidence ?? '',
    cause: error,
  });
}

/** As the service's own volume: it goes with the service. */
export function copyLabels({ placement }: DockerHost, volume: string) {
  return { ...labelsOf(placement, 'volume'), [serviceLabel]: volume.replace(/^slipway-/, '') };
}

/** Nothing where there is none. No container may use it any more. */
export function discardVolume(host: DockerHost, volume: string, name: CopyName): Promise<void> {
  return dropVolume(host, copyVolume(volume, name));
}
