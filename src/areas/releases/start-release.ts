/**
 * The containers of a release, beside whatever runs there already. All are made and started in one round trip; one that
 * is there by its name is the same one, so a second run joins the first.
 */
import { ask } from '../../adapters/docker/ask.ts';
import {
  createContainer,
  inspectContainer,
  readContainer,
  startContainer,
} from '../../adapters/docker/containers.ts';
import type { Call, ContainerState, ContainerWish } from '../../adapters/docker/docker.ts';
import { createVolume } from '../../adapters/docker/volumes.ts';
import { Fault } from '../../fault.ts';
import type { DeploymentId } from '../../ids.ts';
import { Secret } from '../../secret.ts';
import { networkCall } from '../environments/network-call.ts';
import {
  addressIn,
  appContainer,
  appSlots,
  appVolume,
  labelsOf,
  networkName,
  type Place,
  type Site,
} from '../environments/place.ts';
import { type Release, type RunProcess, secretsOf } from './releases.ts';

export const webProcess = 'web';

export interface RunningContainer {
  readonly name: string;
  readonly process: string;
  readonly address: string;
}

/** The network and the volumes; they outlive every release. */
export function groundCalls(place: Place, { run }: Release): Call[] {
  return [networkCall(place), ...run.volumes.map(({ name }) => volumeCall(place, name))];
}

function volumeCall(place: Place, name: string): Call {
  return createVolume(appVolume(place, name), labelsOf(place, 'volume'));
}

export interface StartWish {
  readonly release: Release;
  readonly deploymentId: DeploymentId;
  /** Those that are taken on its network. */
  readonly takenAddresses: ReadonlySet<string>;
}

export async function startWeb(site: Site, wish: StartWish): Promise<RunningContainer[]> {
  const { place } = site;
  const free = freeAddresses(place, wish.takenAddresses);
  const wishes = Array.from({ length: wish.release.run.replicas }, (_, index) =>
    webContainer(place, wish, index + 1, free()),
  );
  const states = await startAll(site, wish.release, wishes);
  return states.map(({ name, address }) => ({ name, process: webProcess, address: mustHave(address, name) }));
}

/** Workers run beside the web process; a cron process is only made ready, its timer starts it. */
export async function startProcesses(site: Site, wish: StartWish): Promise<RunningContainer[]> {
  const { place } = site;
  const free = freeAddresses(place, wish.takenAddresses);
  const { processes } = wish.release.run;
  const workers = processes.flatMap((process) =>
    Array.from({ length: process.kind === 'cron' ? 1 : process.replicas }, (_, index) =>
      processContainer(place, wish, process, index + 1, free()),
    ),
  );
  if (workers.length === 0) return [];
  const crons = new Set(processes.filter(({ kind }) => kind === 'cron').map(({ name }) => name));
  const states = await startAll(
    site,
    wish.release,
    workers,
    (each) => !crons.has(each.labels['slipway.process'] ?? ''),
  );
  return states.map(({ name, labels }) => ({ name, process: labels['slipway.process'] ?? '', address: '' }));
}

async function startAll(
  { place, remote, fence, signal }: Site,
  release: Release,
  wishes: readonly ContainerWish[],
  isStarted: (wish: ContainerWish) => boolean = () => true,
): Promise<ContainerState[]> {
  const calls = [
    ...groundCalls(place, release),
    ...wishes.map(createContainer),
    ...wishes.filter(isStarted).map(({ name }) => startContainer(name)),
    ...wishes.map(({ name }) => inspectContainer(name)),
  ];
  const secrets = secretsOf(release);
  const replies = await ask(remote, calls, { fence, signal, secrets });
  return replies.slice(-wishes.length).map((reply, index) => {
    const state = readContainer(reply);
    if (!state) throw new Error(`the container ${wishes[index]?.name} is gone as soon as it was made`);
    return state;
  });
}

function webContainer(place: Place, wish: StartWish, replica: number, address: string): ContainerWish {
  const { run } = wish.release;
  const command = run.startCommand === null ? {} : { entrypoint: shell(run.startCommand), command: [] };
  return {
    ...common(place, wish, webProcess, replica),
    ...command,
    address,
    aliases: ['web'],
    restart: 'unless-stopped',
  };
}

function processContainer(
  place: Place,
  wish: StartWish,
  { name, kind, command }: RunProcess,
  replica: number,
  address: string,
): ContainerWish {
  return {
    ...common(place, wish, name, replica),
    entrypoint: shell(command),
    command: [],
    address,
    restart: kind === 'cron' ? 'no' : 'unless-stopped',
  };
}

/** The release command, once, before anyone uses the new release. Not started here: its output is followed. */
export function releaseContainer(place: Place, wish: StartWish, command: string): ContainerWish {
  const free = freeAddresses(place, wish.takenAddresses);
  return {
    ...common(place, wish, 'release', 1),
    entrypoint: shell(command),
    command: [],
    address: free(),
    restart: 'no',
  };
}

function common(place: Place, { release, deploymentId }: StartWish, process: string, replica: number) {
  const { run, variables } = release;
  return {
    name: appContainer(deploymentId, process, replica),
    image: release.imageDigest,
    labels: {
      ...labelsOf(place, 'app'),
      'slipway.deployment': deploymentId,
      'slipway.release': release.id,
      'slipway.process': process,
      'slipway.replica': String(replica),
    },
    network: networkName(place),
    environment: new Map([['PORT', new Secret(String(run.port))], ...variables]),
    volumes: run.volumes.map(({ name, path }) => ({ volume: appVolume(place, name), path })),
    stopSeconds: run.stopSeconds,
    ...(run.isRoot && { capabilities: rootNeeds }),
    ...(run.memoryMb !== null && { memoryMb: run.memoryMb }),
    ...(run.cpus !== null && { cpus: run.cpus }),
  } as const;
}

/** What images that begin as root do with it: take folders over, become another user, end their children. */
const rootNeeds = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'];

/** The user's command is a program for the shell of the user's own image; it is one argument here, and nothing else. */
function shell(command: string): string[] {
  return ['/bin/sh', '-c', command];
}

/** Lowest first, but never one that was just used: a late packet to an old release must not reach the new one. */
function freeAddresses(place: Place, taken: ReadonlySet<string>): () => string {
  let slot: number = appSlots.first;
  return () => {
    for (; slot <= appSlots.last; slot += 1) {
      const address = addressIn(place, slot);
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
