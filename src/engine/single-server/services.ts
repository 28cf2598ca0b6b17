/**
 * The services of an environment on its server: what is there of them, made and started, stopped and removed. A service
 * that changed gets a new container on the same volume. Where all is well, a look is one round trip.
 */
import { createHash } from 'node:crypto';
import { exchangeOf, replyOf } from '../../adapters/docker/ask.ts';
import {
  listContainers,
  readContainers,
  removeContainer,
  startContainer,
  stopContainer,
} from '../../adapters/docker/containers.ts';
import type { Call, Reply } from '../../adapters/docker/docker.ts';
import { inspectImage, pullHint, pullUnit, readImage } from '../../adapters/docker/images.ts';
import { connectNetwork } from '../../adapters/docker/networks.ts';
import { createVolume, listVolumes, readVolumes, removeVolume } from '../../adapters/docker/volumes.ts';
import { Fault } from '../../fault.ts';
import type { ServiceId } from '../../ids.ts';
import type { Exchange } from '../../remote/remote.ts';
import { followUnit } from '../../remote/units/follow-unit.ts';
import {
  askHost,
  askOne,
  bridgeCall,
  createCalls,
  type DockerHost,
  type WantedContainer,
} from '../docker-host.ts';
import {
  addressIn,
  bridgeName,
  labelsOf,
  networkName,
  type Placement,
  serviceContainer,
  serviceLabel,
  serviceVolume,
} from '../placement.ts';
import type { InspectedService, InspectedServices, ServiceSpec } from '../service-spec.ts';

const specLabel = 'slipway.spec';
/** For one of which nothing is known but that it is ours. */
const longestStopSeconds = 120;

/** Those that may not run are not asked at once: where nothing is, an answer takes seconds to fail. */
export async function inspectServices(
  host: DockerHost,
  services: readonly ServiceSpec[],
): Promise<InspectedServices> {
  const { placement, remote, fence, signal } = host;
  const images = [...new Set(services.map(({ image }) => image))];
  const calls = [listContainers(labelsOf(placement, 'service')), ...images.map(inspectImage)];
  const asked = services.filter(({ wasRunning }) => wasRunning);
  const exchanges = [...calls.map(exchangeOf), ...asked.map((each) => healthExchange(placement, each))];
  const secrets = services.flatMap((each) => each.secrets);
  const answers = await remote.relay(exchanges, { fence, signal, secrets });
  const [listed, ...inspected] = calls.map((call, index): Reply => {
    const answer = answers[index];
    if (!answer) throw new Fault('remote_failed', 'The server skipped a call to Docker.');
    return replyOf(call, answer, { secrets });
  });
  const containers = listed ? readContainers(listed) : [];
  const containerOf = ({ id }: ServiceSpec) => containers.find(({ name }) => name === serviceContainer(id));
  const answered = asked.slice(0, answers.length - calls.length);
  const healthy = new Set(answered.filter((_, index) => answers[calls.length + index]?.last.isMet));
  // The first that does not answer ends the round trip: those behind it, and those that were not asked, come now.
  for (const each of services) {
    if (answered.includes(each) || containerOf(each)?.status !== 'running') continue;
    const [answer] = await remote.relay([healthExchange(placement, each)], { signal, secrets });
    if (answer?.last.isMet) healthy.add(each);
  }
  const names = new Set(services.map(({ id }) => serviceContainer(id)));
  return {
    services: services.map((service) => {
      const container = containerOf(service);
      return {
        service,
        status: container?.status ?? null,
        isUpToDate: container?.labels[specLabel] === specMark(placement, service),
        isHealthy: healthy.has(service),
      };
    }),
    unwanted: containers.map(({ name }) => name).filter((name) => !names.has(name)),
    missingImages: new Set(images.filter((_, index) => !inspected[index] || !readImage(inspected[index]))),
  };
}

/** Asked from the server, over the bridge: an overlay of a cluster it does not reach. */
export function healthExchange(
  placement: Placement,
  { slot, health }: ServiceSpec,
  until?: Exchange['until'],
): Exchange {
  const { port, send, expect, maxBytes } = health;
  const to = { host: addressIn(placement, slot), port };
  return { to, send, expect, maxBytes, timeoutMs: 2_000, ...(until && { until }) };
}

/**
 * What makes another container necessary: what the user decides, and its place. Not how we would start it today, or a
 * newer Slipway would restart every database.
 */
function specMark(placement: Placement, { image, name, wantedMemoryMb, slot }: ServiceSpec): string {
  const isOnOverlay = placement.clusterId !== null;
  const parts = [
    image,
    name,
    wantedMemoryMb,
    addressIn(placement, slot),
    ...(isOnOverlay ? ['overlay'] : []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

export async function pullImage(
  { remote, fence, signal }: DockerHost,
  image: string,
  name: string,
  line: (text: string) => void,
): Promise<void> {
  const unit = {
    name: `slipway-${fence.scope}-pull-${name}`,
    argv: pullUnit(image),
    fence,
    what: `Pulling the image ${image}`,
    hintFor: (evidence: string) => pullHint(image, evidence),
  };
  await followUnit(remote, unit, { signal, line });
}

export async function applyServices(
  host: DockerHost,
  services: readonly InspectedService[],
  unwanted: readonly string[],
): Promise<void> {
  const { placement } = host;
  const missing = services.filter((each) => !canStart(each)).map(({ service }) => service);
  const creating = await createCalls(
    host,
    missing.map((service) => containerOf(placement, service)),
  );
  const calls = [
    ...unwanted.flatMap((name) => stopAndRemove(name, longestStopSeconds)),
    ...(services.length > 0 ? [bridgeCall(placement)] : []),
    ...services.flatMap((each) => createAndStart(placement, each, creating[missing.indexOf(each.service)])),
  ];
  await askHost(
    host,
    calls,
    services.flatMap(({ service }) => service.secrets),
  );
}

function canStart({ status, isUpToDate }: InspectedService): boolean {
  return isUpToDate && ['created', 'running', 'restarting', 'exited'].includes(status ?? '');
}

/** `creating`: undefined where its container can be started as it is. */
function createAndStart(
  placement: Placement,
  { service, status }: InspectedService,
  creating: Call | undefined,
): Call[] {
  const name = serviceContainer(service.id);
  if (!creating) return [startContainer(name)];
  const volumeLabels = { ...labelsOf(placement, 'volume'), [serviceLabel]: service.id };
  return [
    ...(status === null ? [] : stopAndRemove(name, service.stopSeconds)),
    createVolume(serviceVolume(service.id), volumeLabels),
    creating,
    ...overlayOf(placement, service),
    startContainer(name),
  ];
}

/**
 * On a cluster all members find it by its name on the overlay. That is its second network: Docker looks for the first by its name
 * before it has attached the server to an overlay.
 */
function overlayOf(placement: Placement, { id, name }: ServiceSpec): Call[] {
  if (placement.clusterId === null) return [];
  return [connectNetwork(networkName(placement), serviceContainer(id), [name])];
}

function stopAndRemove(name: string, stopSeconds: number): Call[] {
  return [stopContainer(name, stopSeconds), removeContainer(name)];
}

function containerOf(placement: Placement, service: ServiceSpec): WantedContainer {
  const { id, name, image, slot, memoryMb, environment, command, entrypoint, volumePath } = service;
  return {
    name: serviceContainer(id),
    image,
    labels: {
      ...labelsOf(placement, 'service'),
      [serviceLabel]: id,
      [specLabel]: specMark(placement, service),
    },
    network: bridgeName(placement),
    address: addressIn(placement, slot),
    aliases: [name],
    environment,
    command,
    ...(entrypoint && { entrypoint }),
    memoryMb,
    cpus: null,
    // After the applications: who loses a database loses more.
    oomScoreAdj: 200,
    // A thread for each connection, in some kinds.
    pidsLimit: 2_048,
    volumes: [{ volume: serviceVolume(id), path: volumePath }],
    restart: 'unless-stopped',
    stopSeconds: service.stopSeconds,
    capabilities: service.capabilities,
  };
}

/** A reboot does not start them again. */
export async function stopServices(
  host: DockerHost,
  services: readonly Pick<ServiceSpec, 'id' | 'stopSeconds'>[],
): Promise<void> {
  await askHost(
    host,
    services.map(({ id, stopSeconds }) => stopContainer(serviceContainer(id), stopSeconds)),
  );
}

/** All that are there, also those that nobody knows any more. */
export async function removeServices(
  host: DockerHost,
  { deleteData }: { readonly deleteData: boolean },
): Promise<void> {
  const { placement } = host;
  const listing = [
    listContainers(labelsOf(placement, 'service')),
    listVolumes(labelsOf(placement, 'volume')),
  ];
  const [containers, volumes] = await askHost(host, listing);
  if (!containers || !volumes) throw new Error('Docker left a question without an answer');
  // Applications have volumes too.
  const ours = readVolumes(volumes).filter(({ labels }) => serviceLabel in labels);
  await askHost(host, [
    ...readContainers(containers).flatMap(({ name }) => stopAndRemove(name, longestStopSeconds)),
    ...(deleteData ? ours.map(({ name }) => removeVolume(name)) : []),
  ]);
}

export async function deleteServiceData(host: DockerHost, ids: readonly ServiceId[]): Promise<void> {
  const listed = readVolumes(await askOne(host, listVolumes(labelsOf(host.placement, 'volume'))));
  const names = new Set(listed.map(({ name }) => name));
  const volumes = ids.map((id) => serviceVolume(id)).filter((name) => names.has(name));
  await askHost(host, [
    ...ids.map((id) => removeContainer(serviceContainer(id))),
    ...volumes.map((name) => removeVolume(name)),
  ]);
}
