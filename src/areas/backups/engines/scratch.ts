/**
 * Scratch containers: they live for one piece of work, of the same image as the service and started as it is, without a
 * network, within limits, and with passwords of their own: what is loaded there may print all that it finds. All that belongs to one carries its id as a label, so that whoever knows the id can remove what
 * a kill left.
 */
import { randomBytes } from 'node:crypto';
import { makeVolume, removeLabelled, startOnVolume } from '../../../engine/data-host.ts';
import type { DockerHost } from '../../../engine/docker-host.ts';
import { labelsOf } from '../../../engine/placement.ts';
import { Fault } from '../../../fault.ts';
import { Secret } from '../../../secret.ts';
import type { Credentials } from '../../services/kinds/kind.ts';
import { kinds } from '../../services/kinds/kinds.ts';
import type { DataSource, LoadInput, RestoreVerdict, ServerFile, ServiceSource } from './engine.ts';
import { inGb, reserveBytes, unitOf } from './run-unit.ts';
import { readablePath, removeUnpacked } from './server-tools.ts';
import { copyLabels } from './swap-volumes.ts';

const idLabel = 'slipway.mark';

/** What a scratch container may take: as the service, but no more than this. */
const maxMemoryMb = 1_024;
/** So much of the server's memory is left alone. */
const spareMemoryMb = 128;
/** Of a compressed file, to its data with indexes and logs in a database. */
const usualGrowth = 8;

export interface Scratch {
  readonly id: string;
  readonly name: string;
  /** Removed with the container, unless it is kept as a copy. */
  readonly volume: string;
  readonly keepsVolume?: true;
  /** Those of the service: for data that becomes live and knows no others. */
  readonly credentials?: Credentials;
  /** After the command that the service is started by. */
  readonly options?: readonly string[];
  /** In addition to those that the service is started with. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Where less than this would not do. */
  readonly memoryMb?: number;
}

/** By the id alone, so that it is found again. */
export function scratchOf(id: string): Scratch {
  const name = `slipway-verify-${id}`;
  return { id, name, volume: name };
}

export function scratchMemory({ memoryMb }: ServiceSource): number {
  return Math.min(memoryMb, maxMemoryMb);
}

/** Starts it, or finds it running; ready it is not yet. */
export async function startScratch(host: DockerHost, source: ServiceSource, scratch: Scratch): Promise<void> {
  const kind = kinds[source.kind];
  const { memoryMb = scratchMemory(source), variables = {}, options = [], keepsVolume } = scratch;
  const credentials = scratch.credentials ?? { password: ownPassword(), adminPassword: ownPassword() };
  const labels = scratchLabels(host, scratch.id);
  const more = Object.entries(variables).map(([key, value]) => [key, new Secret(value)] as const);
  const environment = new Map([...kind.environment(credentials), ...more]);
  const container: Parameters<typeof startOnVolume>[1] = {
    name: scratch.name,
    image: source.image,
    labels,
    network: 'none',
    environment,
    command: [...kind.command(memoryMb, source.version), ...options],
    ...(kind.entrypoint && { entrypoint: kind.entrypoint }),
    memoryMb,
    cpus: null,
    pidsLimit: 2_048,
    volumes: [{ volume: scratch.volume, path: source.volumePath }],
    restart: 'no',
    stopSeconds: kind.stopSeconds,
    capabilities: kind.capabilities,
  };
  const volumeLabels = keepsVolume ? copyLabels(host, source.volume) : labels;
  const volume = { name: scratch.volume, labels: volumeLabels };
  await startOnVolume(host, container, volume, [credentials.password, credentials.adminPassword]);
}

/** Nobody has to know it: what works there takes it from the container's environment. */
function ownPassword(): Secret {
  return new Secret(randomBytes(24).toString('base64url'));
}

export async function createScratchVolume(host: DockerHost, id: string): Promise<string> {
  const { volume } = scratchOf(id);
  await makeVolume(host, { name: volume, labels: scratchLabels(host, id) });
  return volume;
}

function scratchLabels({ placement }: DockerHost, id: string) {
  return { ...labelsOf(placement, 'volume'), slipway: 'scratch', [idLabel]: id };
}

/** The containers and volumes with this id; ends its units first. */
export async function removeScratch(host: DockerHost, id: string): Promise<void> {
  const { remote, fence } = host;
  await remote.stopUnit(unitOf('verify', id), fence);
  await remote.stopUnit(unitOf('load', id), fence);
  await removeLabelled(host, { [idLabel]: id });
}

/** Checks for space, lets `verify` load the file, and leaves nothing of it. */
export async function inScratch(
  host: DockerHost,
  { volume, memoryMb }: { readonly volume: string; readonly memoryMb: number },
  file: ServerFile,
  id: string,
  verify: (path: string) => Promise<RestoreVerdict>,
): Promise<RestoreVerdict> {
  const { lack } = await lookForSpace(host, { volume, fileBytes: file.bytes, memoryMb });
  if (lack !== null) return { outcome: 'unverifiable', reason: lack };
  try {
    return await verify(await readablePath(host, file));
  } finally {
    await removeScratch(host, id);
    await removeUnpacked(host, file);
  }
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

interface Space {
  readonly volume: string;
  readonly fileBytes: number;
  /** Without it the memory is not checked. */
  readonly memoryMb?: number;
  /** How many times its size the file may become. */
  readonly growth?: number;
}

/**
 * Why there is no space for a second copy of the data; null where there is. The copy will be about as large as the
 * original, or as what the file can grow to, whichever is more.
 */
async function lookForSpace(
  { remote, signal }: DockerHost,
  { volume, fileBytes, memoryMb, growth = usualGrowth }: Space,
): Promise<{ readonly lack: string | null; readonly usedBytes: number }> {
  const output = await remote.script(spaceScript, [volume], { signal, timeoutMs: 300_000 });
  const [free = 0, used = 0, availableKb = 0] = output.toString('latin1').trim().split('\n').map(Number);
  const lacking = (lack: string | null) => ({ lack, usedBytes: used });
  const needed = Math.max(used, fileBytes * growth) + reserveBytes;
  if (free < needed)
    return lacking(
      `The disk of the server has ${inGb(free)} free, and ${inGb(needed)} may be needed for a copy.`,
    );
  if (memoryMb === undefined) return lacking(null);
  const availableMb = Math.floor(availableKb / 1024);
  const neededMb = memoryMb + spareMemoryMb;
  if (availableMb < neededMb)
    return lacking(
      `The server has ${availableMb} MB of memory available, and ${neededMb} MB are needed for a copy.`,
    );
  return lacking(null);
}

/** How many bytes the live data takes. */
export async function requireSpace(
  host: DockerHost,
  { volume }: DataSource,
  space: Omit<Space, 'volume'>,
): Promise<number> {
  const { lack, usedBytes } = await lookForSpace(host, { volume, ...space });
  if (lack === null) return usedBytes;
  throw new Fault('disk_full', lack, { hint: 'Free some space on the server, then try again.' });
}

/** How much may be there in the end: an upload beside what there is. What we dumped ourselves is as large as it was. */
export function mostFilled(input: LoadInput, usedBytes: number): number | null {
  return input.content === 'upload' ? usedBytes + input.mostBytes : null;
}
