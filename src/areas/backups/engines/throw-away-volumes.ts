/**
 * Data that changes places as a whole: a second volume beside the live one, whose folder takes the place of the live
 * one's while the container is stopped. Volumes of Docker's own driver are folders of one file system, so each step is
 * one rename; what has been done shows from what is there, and the next call goes on from that. Not the exchange of
 * `volume-folders.ts`: here a second server of the database runs on what is beside, and a container can only be given a
 * volume that Docker knows.
 */
import { startContainer, stopContainer } from '../../../adapters/docker/containers.ts';
import { ask } from '../../../adapters/docker/docker.ts';
import { createVolume, removeVolume } from '../../../adapters/docker/volumes.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { labelsOf, serviceLabel } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import type { BesideName } from './engine.ts';

/** Docker's name of it. */
export function volumeBeside(volume: string, name: BesideName): string {
  return `${volume}-${name}`;
}

/**
 * `$1` live, `$2` beside, `$3` before: names of volumes, of which `$3` has been made. Without a live folder the first
 * rename was the last that was done; with nothing beside, both were, or there is nothing to take back.
 */
const swapScript = `
folder() { docker volume inspect --format '{{.Mountpoint}}' "$1" 2>/dev/null || :; }
live=$(folder "$1")
beside=$(folder "$2")
before=$(folder "$3")
if [ -z "$live" ] || [ -z "$before" ]; then echo 'a volume is missing' >&2; exit 1; fi
holds() { [ -n "$1" ] && [ -d "$1" ] && [ -n "$(ls -A "$1")" ]; }
if ! holds "$beside"; then
  if [ -d "$live" ] && holds "$before"; then exit 0; fi
  echo 'nothing is beside' >&2
  exit 1
fi
if [ -d "$live" ]; then
  if holds "$before"; then echo 'there is another before already' >&2; exit 1; fi
  mv -fT "$live" "$before"
fi
mv -T "$beside" "$live"
sync -f "$live"
`;

/** Stops the container for it, and starts it again also where it fails. Nothing may use the volume beside any more. */
export async function swapVolumes(
  site: DockerHost,
  wish: {
    readonly container: string;
    readonly stopSeconds: number;
    readonly volume: string;
    readonly beside: BesideName;
    readonly before: BesideName;
  },
): Promise<void> {
  const { remote, fence, signal } = site;
  const { container, volume } = wish;
  const [beside, before] = [volumeBeside(volume, wish.beside), volumeBeside(volume, wish.before)];
  const making = createVolume(before, besideLabels(site, volume));
  await ask(remote, [making, stopContainer(container, wish.stopSeconds)], { fence, signal });
  try {
    await remote.script(swapScript, [volume, beside, before], { timeoutMs: 300_000 });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
    await ask(remote, [startContainer(container)], { fence });
    throw new Fault('restore_failed', 'The data could not change places; what was live is live.', {
      evidence: error.evidence ?? '',
      cause: error,
    });
  }
  await ask(remote, [startContainer(container), removeVolume(beside)], { fence });
}

function besideLabels({ placement }: DockerHost, volume: string) {
  return { ...labelsOf(placement, 'volume'), [serviceLabel]: volume.replace(/^slipway-/, '') };
}

/** Nothing where there is none. No container may have it any more. */
export async function discardVolume(
  { remote, fence }: DockerHost,
  volume: string,
  name: BesideName,
): Promise<void> {
  await ask(remote, [removeVolume(volumeBeside(volume, name))], { fence });
}
