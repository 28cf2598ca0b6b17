/**
 * The part of the port for data: volumes, and the containers that use them, on the server that holds an environment's
 * data. Backups dump, load and swap with these; which server it is, the target says (`dataHost`).
 */
import {
  listContainers,
  readContainers,
  removeContainer,
  startContainer,
  stopContainer,
} from '../adapters/docker/containers.ts';
import type { Call } from '../adapters/docker/docker.ts';
import { fieldsOf, textOf } from '../adapters/docker/json.ts';
import { createVolume, listVolumes, readVolumes, removeVolume } from '../adapters/docker/volumes.ts';
import { Fault } from '../fault.ts';
import type { Secret } from '../secret.ts';
import { askHost, askOne, createCalls, type DockerHost, type WantedContainer } from './docker-host.ts';

type Labels = Readonly<Record<string, string>>;

export interface NewVolume {
  readonly name: string;
  readonly labels: Labels;
}

export async function makeVolume(host: DockerHost, { name, labels }: NewVolume): Promise<void> {
  await askOne(host, createVolume(name, labels));
}

/** Nothing where there is none. No container may use it any more. */
export async function dropVolume(host: DockerHost, name: string): Promise<void> {
  await askOne(host, removeVolume(name));
}

/** With its volume, or finds both; ready it is not yet. */
export async function startOnVolume(
  host: DockerHost,
  container: WantedContainer,
  volume: NewVolume,
  secrets: readonly Secret[],
): Promise<void> {
  const calls = [createVolume(volume.name, volume.labels), ...(await createCalls(host, [container]))];
  await askHost(host, [...calls, startContainer(container.name)], secrets);
}

/** Every container and volume with this label. Those that hold work which was cancelled go too. */
export async function removeLabelled(host: DockerHost, labels: Labels): Promise<void> {
  const lasting = { ...host, signal: new AbortController().signal };
  const [containers, volumes] = await askHost(lasting, [listContainers(labels), listVolumes(labels)]);
  if (!containers || !volumes) return;
  await askHost(lasting, [
    ...readContainers(containers).map(({ name }) => removeContainer(name)),
    ...readVolumes(volumes).map(({ name }) => removeVolume(name)),
  ]);
}

/**
 * `work` while the container is stopped, which is started again also where that fails. What may be made before it and
 * removed after it goes in the same round trips.
 */
export async function whileStopped(
  host: DockerHost,
  { name, stopSeconds }: { readonly name: string; readonly stopSeconds: number },
  work: () => Promise<void>,
  volumes: { readonly make?: NewVolume; readonly drop?: string } = {},
): Promise<void> {
  const { make, drop } = volumes;
  const making = make ? [createVolume(make.name, make.labels)] : [];
  await askHost(host, [...making, stopContainer(name, stopSeconds)]);
  const lasting = { ...host, signal: new AbortController().signal };
  try {
    await work();
  } catch (error) {
    // Where the server said no, it is over. Where it could not be asked, whoever resumes goes on from what is there.
    if (error instanceof Fault && error.code === 'remote_failed') await askOne(lasting, startContainer(name));
    throw error;
  }
  const dropping = drop === undefined ? [] : [removeVolume(drop)];
  await askHost(lasting, [startContainer(name), ...dropping]);
}

/** As Docker reports it; where its folders are is a setting of the server's owner. */
export async function volumeFolder(host: DockerHost, volume: string): Promise<string> {
  const call: Call = { method: 'GET', path: `/volumes/${encodeURIComponent(volume)}`, ok: [200, 404] };
  const { status, body } = await askOne(host, call);
  const folder = textOf(fieldsOf(body).Mountpoint);
  if (status === 200 && /^\/.+\/[^/]+$/.test(folder)) return folder;
  throw new Fault('not_found', 'The volume is not on the server any more.', { evidence: volume });
}
