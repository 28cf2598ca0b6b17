/**
 * The containers of a release, beside whatever runs there already. All are made and started in one round trip; one that
 * is there by its name is the same one, so a second run joins the first.
 */
import {
  inspectContainer,
  readContainer,
  removeContainer,
  startContainer,
} from '../../adapters/docker/containers.ts';
import type { Call, ContainerState } from '../../adapters/docker/docker.ts';
import { createVolume } from '../../adapters/docker/volumes.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId } from '../../ids.ts';
import { type FollowUnitOptions, followUnit } from '../../remote/units/follow-unit.ts';
import { Secret } from '../../secret.ts';
import {
  askCreating,
  askHost,
  askOne,
  bridgeCall,
  createCalls,
  type DockerHost,
  type WantedContainer,
} from '../docker-host.ts';
import type { RunningInstance } from '../engine.ts';
import {
  addressIn,
  appContainer,
  appSlots,
  appVolume,
  labelsOf,
  networkName,
  type Placement,
} from '../placement.ts';
import {
  type ReleaseSpec,
  type ReleaseStart,
  type RunProcess,
  secretsOf,
  webProcess,
} from '../release-spec.ts';

/** The network and the volumes; they outlive every release. */
function groundCalls(placement: Placement, { run }: ReleaseSpec): Call[] {
  // That of a cluster is made by a manager.
  const network = placement.clusterId === null ? [bridgeCall(placement)] : [];
  return [...network, ...run.volumes.map(({ name }) => volumeCall(placement, name))];
}

function volumeCall(placement: Placement, name: string): Call {
  return createVolume(appVolume(placement, name), labelsOf(placement, 'volume'));
}

export async function startWeb(host: DockerHost, start: ReleaseStart): Promise<RunningInstance[]> {
  const { placement } = host;
  const free = freeAddresses(placement, start.takenAddresses);
  const specs = Array.from({ length: start.release.run.replicas }, (_, index) =>
    webContainer(placement, start, index + 1, free()),
  );
  const states = await startAll(host, start.release, specs);
  return states.map(({ name, address }) => ({ name, process: webProcess, address: mustHave(address, name) }));
}

/** Workers run beside the web process; a cron process is only made ready, its timer starts it. */
export async function startProcesses(host: DockerHost, start: ReleaseStart): Promise<RunningInstance[]> {
  const { placement } = host;
  const free = freeAddresses(placement, start.takenAddresses);
  const { processes } = start.release.run;
  const workers = processes.flatMap((process) =>
    Array.from({ length: process.kind === 'cron' ? 1 : process.replicas }, (_, index) =>
      processContainer(placement, start, process, index + 1, free()),
    ),
  );
  if (workers.length === 0) return [];
  const crons = new Set(processes.filter(({ kind }) => kind === 'cron').map(({ name }) => name));
  const states = await startAll(
    host,
    start.release,
    workers,
    (each) => !crons.has(each.labels['slipway.process'] ?? ''),
  );
  return states.map(({ name, labels }) => ({ name, process: labels['slipway.process'] ?? '', address: '' }));
}

async function startAll(
  host: DockerHost,
  release: ReleaseSpec,
  specs: readonly WantedContainer[],
  isStarted: (start: WantedContainer) => boolean = () => true,
): Promise<ContainerState[]> {
  const calls = (creating: readonly Call[]) => [
    ...groundCalls(host.placement, release),
    ...creating,
    ...specs.filter(isStarted).map(({ name }) => startContainer(name)),
    ...specs.map(({ name }) => inspectContainer(name)),
  ];
  const replies = await askCreating(host, specs, calls, secretsOf(release));
  return replies.slice(-specs.length).map((reply, index) => {
    const state = readContainer(reply);
    if (!state) throw new Error(`the container ${specs[index]?.name} is gone as soon as it was made`);
    return state;
  });
}

function webContainer(
  placement: Placement,
  start: ReleaseStart,
  replica: number,
  address: string,
): WantedContainer {
  const { run } = start.release;
  const command = run.startCommand === null ? {} : { entrypoint: shell(run.startCommand), command: [] };
  return {
    ...common(placement, start, webProcess, replica),
    ...command,
    address,
    aliases: ['web'],
    restart: 'unless-stopped',
  };
}

function processContainer(
  placement: Placement,
  start: ReleaseStart,
  { name, kind, command }: RunProcess,
  replica: number,
  address: string,
): WantedContainer {
  return {
    ...common(placement, start, name, replica),
    entrypoint: shell(command),
    command: [],
    address,
    restart: kind === 'cron' ? 'no' : 'unless-stopped',
  };
}

/** In a container of its own that is kept until it has ended: who comes back finds how it did. */
export async function runReleaseCommand(
  host: DockerHost,
  start: ReleaseStart,
  command: string,
  output: FollowUnitOptions,
): Promise<void> {
  const { placement, remote, fence } = host;
  const { release, deploymentId } = start;
  const name = appContainer(deploymentId, 'release', 1);
  const calls = [
    ...groundCalls(placement, release),
    ...(await createCalls(host, [releaseContainer(placement, start, command)])),
    inspectContainer(name),
  ];
  const last = (await askHost(host, calls, secretsOf(release))).at(-1);
  const state = last && readContainer(last);
  if (state?.status === 'exited' && state.startedAt !== null && state.exitCode === 0) return;
  output.line(`Release command: ${command}`);
  const unit = {
    name: releaseUnit(deploymentId),
    argv: ['docker', 'start', '--attach', name],
    fence,
    what: `The release command «${command}»`,
  };
  await followUnit(remote, unit, output);
  await askOne(host, removeContainer(name));
}

export async function stopReleaseCommand(host: DockerHost, deploymentId: DeploymentId): Promise<void> {
  await host.remote.stopUnit(releaseUnit(deploymentId), host.fence);
  await askOne(host, removeContainer(appContainer(deploymentId, 'release', 1)));
}

function releaseUnit(deploymentId: DeploymentId): string {
  return `slipway-${deploymentId}-release`;
}

function releaseContainer(placement: Placement, start: ReleaseStart, command: string): WantedContainer {
  const free = freeAddresses(placement, start.takenAddresses);
  return {
    ...common(placement, start, 'release', 1),
    entrypoint: shell(command),
    command: [],
    ...(placement.clusterId === null && { address: free() }),
    restart: 'no',
  };
}

export function common(
  placement: Placement,
  { release, deploymentId }: ReleaseStart,
  process: string,
  replica: number,
) {
  const { run, variables } = release;
  return {
    name: appContainer(deploymentId, process, replica),
    image: release.imageDigest,
    labels: {
      ...labelsOf(placement, 'app'),
      'slipway.deployment': deploymentId,
      'slipway.release': release.id,
      'slipway.process': process,
      'slipway.replica': String(replica),
    },
    network: networkName(placement),
    environment: new Map([['PORT', new Secret(String(run.port))], ...variables]),
    volumes: run.volumes.map(({ name, path }) => ({ volume: appVolume(placement, name), path })),
    stopSeconds: run.stopSeconds,
    ...(run.isRoot && { capabilities: rootNeeds }),
    memoryMb: run.memoryMb,
    cpus: run.cpus,
  } as const;
}

/** What images that begin as root do with it: take folders over, become another user, end their children. */
const rootNeeds = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'];

/** The user's command is a program for the shell of the user's own image; it is one argument here, and nothing else. */
export function shell(command: string): string[] {
  return ['/bin/sh', '-c', command];
}

/** Lowest first, but never one that was just used: a late packet to an old release must not reach the new one. */
function freeAddresses(placement: Placement, taken: ReadonlySet<string>): () => string {
  let slot: number = appSlots.first;
  return () => {
    for (; slot <= appSlots.last; slot += 1) {
      const address = addressIn(placement, slot);
      if (taken.has(address)) continue;
      slot += 1;
      return address;
    }
    throw new Fault('server_full', 'The environment has more containers than its network has addresses.', {
      hint: 'Run fewer replicas or processes; about twenty at a time fit, because old and new run side by side.',
    });
  };
}

function mustHave(address: string | null, name: string): string {
  if (address === null) throw new Error(`the container ${name} has no address`);
  return address;
}
