/**
 * Containers that live for one piece of work: of the same image as the service and started as it is, without a network,
 * within limits. All that belongs to one carries its mark, so that whoever knows the mark can remove what a kill left.
 */
import {
  createContainer,
  listContainers,
  readContainers,
  removeContainer,
  startContainer,
} from '../../../adapters/docker/containers.ts';
import { ask } from '../../../adapters/docker/docker.ts';
import { createVolume, listVolumes, readVolumes, removeVolume } from '../../../adapters/docker/volumes.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { labelsOf, serviceLabel } from '../../../engine/placement.ts';
import { Secret } from '../../../secret.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import type { Source } from './engine.ts';

export type ServiceSource = Extract<Source, { type: 'service' }>;

export const markLabel = 'slipway.mark';

/** What a container that tries or loads something may take: as the service, but no more than this. */
const mostMemoryMb = 1_024;
/** So much of the server's memory is left alone. */
const spareMemoryMb = 128;
const spareDiskBytes = 512 * 1024 * 1024;
/** Of a compressed file, to its data with indexes and logs in a database. */
const usualGrowth = 8;

export interface ThrowAway {
  readonly name: string;
  readonly mark: string;
  /** Removed with the container, unless it is there under this name for longer. */
  readonly volume: string;
  /** Without it the volume carries the mark and goes with it. */
  readonly keepsVolume?: true;
  /** Behind the command that the service is started by. */
  readonly options?: readonly string[];
  /** Beside the variables that the service is started with. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Where less than this would not do. */
  readonly memoryMb?: number;
}

/** By the mark alone, so that it is found again. */
export function throwAwayOf(mark: string): ThrowAway {
  const name = `slipway-try-${mark}`;
  return { name, mark, volume: name };
}

export function unitOf(work: 'try' | 'load', mark: string): string {
  return `slipway-${work}-${mark.toLowerCase().replaceAll('_', '-')}`;
}

export function throwAwayMemory({ memoryMb }: ServiceSource): number {
  return Math.min(memoryMb, mostMemoryMb);
}

/** Starts it, or finds it running; ready it is not yet. */
export async function startThrowAway(
  site: DockerHost,
  source: ServiceSource,
  wish: ThrowAway,
): Promise<void> {
  const { remote, fence, signal, placement } = site;
  const kind = kinds[source.kind];
  const labels = { ...labelsOf(placement, 'volume'), slipway: 'throw-away', [markLabel]: wish.mark };
  const kept = { ...labelsOf(placement, 'volume'), [serviceLabel]: source.volume.replace(/^slipway-/, '') };
  const memoryMb = wish.memoryMb ?? throwAwayMemory(source);
  const more = Object.entries(wish.variables ?? {}).map(([key, value]) => [key, new Secret(value)] as const);
  const environment = new Map([...kind.environment(source.credentials), ...more]);
  const container = createContainer({
    name: wish.name,
    image: source.image,
    labels,
    network: 'none',
    environment,
    command: [...kind.command(memoryMb, source.version), ...(wish.options ?? [])],
    ...(kind.entrypoint && { entrypoint: kind.entrypoint }),
    memoryMb,
    pidsLimit: 2_048,
    volumes: [{ volume: wish.volume, path: source.volumePath }],
    restart: 'no',
    stopSeconds: kind.stopSeconds,
    capabilities: kind.capabilities,
  });
  const calls = [
    createVolume(wish.volume, wish.keepsVolume ? kept : labels),
    container,
    startContainer(wish.name),
  ];
  await ask(remote, calls, { fence, signal, secrets: Object.values(source.credentials) });
}

/** Its containers, and the volumes that carry the mark themselves; ends its units first. */
export async function removeMarked(site: DockerHost, mark: string): Promise<void> {
  const { remote, fence } = site;
  await remote.stopUnit(unitOf('try', mark), fence);
  await remote.stopUnit(unitOf('load', mark), fence);
  const [containers, volumes] = await ask(
    remote,
    [listContainers({ [markLabel]: mark }), listVolumes({ [markLabel]: mark })],
    { fence },
  );
  if (!containers || !volumes) return;
  const calls = [
    ...readContainers(containers).map(({ name }) => removeContainer(name)),
    ...readVolumes(volumes).map(({ name }) => removeVolume(name)),
  ];
  await ask(remote, calls, { fence });
}

/** `$1` the volume. Free bytes where Docker keeps its data, bytes of the volume, available memory in kB. */
const spaceScript = `
root=$(docker info --format '{{.DockerRootDir}}')
free=$(df --output=avail -B1 "$root")
printf '%s\\n' "$free" | tail -n 1
data=$(docker volume inspect --format '{{.Mountpoint}}' "$1" 2>/dev/null || :)
if [ -n "$data" ] && [ -d "$data" ]; then { du -sxB1 "$data" 2>/dev/null || :; } | cut -f 1; else echo 0; fi
sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo
`;

/**
 * Why there is no room for a copy of what is dumped beside it; null where there is. The copy will be about as large as
 * the original, or as what the file can grow to, whichever is more.
 */
export async function noRoomFor(
  { remote, signal }: DockerHost,
  wish: {
    readonly volume: string;
    readonly fileBytes: number;
    /** Without it the memory is not looked at. */
    readonly memoryMb?: number;
    /** How many times its size the file may become. */
    readonly growth?: number;
  },
): Promise<string | null> {
  const { volume, fileBytes, memoryMb, growth = usualGrowth } = wish;
  const said = (await remote.script(spaceScript, [volume], { signal, timeoutMs: 300_000 })).toString(
    'latin1',
  );
  const [free = 0, used = 0, availableKb = 0] = said.trim().split('\n').map(Number);
  const needed = Math.max(used, fileBytes * growth) + spareDiskBytes;
  if (free < needed)
    return `The disk of the server has ${inGb(free)} free, and ${inGb(needed)} may be needed for a copy.`;
  if (memoryMb === undefined) return null;
  const availableMb = Math.floor(availableKb / 1024);
  const neededMb = memoryMb + spareMemoryMb;
  if (availableMb < neededMb)
    return `The server has ${availableMb} MB of memory available, and ${neededMb} MB are needed for a copy.`;
  return null;
}

function inGb(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
