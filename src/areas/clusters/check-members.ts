/** What has to hold before servers become one swarm, each with the sentence for where it does not. Nothing is changed. */
import { BlockList, isIPv4 } from 'node:net';
import { isOfCluster, type MemberFacts, readMember, type SwarmMember } from '../../engine/swarm/member.ts';
import type { SwarmNode } from '../../engine/swarm/nodes.ts';
import { Fault } from '../../fault.ts';
import type { ClusterId, ServerId } from '../../ids.ts';
import { readFacts } from '../servers/connection/server-facts.ts';

export interface SeenServer extends MemberFacts {
  readonly serverId: ServerId;
  readonly name: string;
  readonly isNew: boolean;
  readonly arch: string;
  readonly clockOffsetMs: number;
  readonly member: SwarmMember;
}

export async function lookAtServer(
  member: SwarmMember,
  about: Pick<SeenServer, 'serverId' | 'name' | 'isNew'>,
): Promise<SeenServer> {
  const { facts, clockOffsetMs } = await readFacts(member.remote, member.signal);
  return { ...about, ...(await readMember(member)), arch: facts.arch, clockOffsetMs, member };
}

const maxApartMs = 30_000;

/** Against each other: an app is built once, and certificates of the swarm are valid from a moment on. */
export function requireAlike(
  servers: readonly Pick<SeenServer, 'name' | 'arch' | 'clockOffsetMs' | 'hasVxlan'>[],
): void {
  const [first] = servers;
  if (!first) return;
  const other = servers.find(({ arch }) => arch !== first.arch);
  if (other)
    throw new Fault(
      'architectures_differ',
      `${first.name} is ${first.arch}, and ${other.name} is ${other.arch}: images are built for one of them.`,
      { hint: 'Make a cluster of each architecture.' },
    );
  const byClock = servers.toSorted((a, b) => a.clockOffsetMs - b.clockOffsetMs);
  const [slow = first, fast = first] = [byClock[0], byClock.at(-1)];
  const apartMs = fast.clockOffsetMs - slow.clockOffsetMs;
  if (apartMs > maxApartMs)
    throw new Fault(
      'clock_wrong',
      `The clock of ${fast.name} is ${Math.round(apartMs / 1000)} s ahead of the one of ${slow.name}.`,
      { hint: 'Let both follow a time server: `timedatectl set-ntp true`.' },
    );
  const bare = servers.find(({ hasVxlan }) => !hasVxlan);
  if (bare)
    throw new Fault(
      'system_unsupported',
      `The kernel of ${bare.name} has no VXLAN, which overlay networks are made of.`,
      {
        hint: 'Run a kernel with the module `vxlan`; those of Debian and Ubuntu have it.',
      },
    );
}

/** One that a broken-off attempt has left in this cluster's own swarm is as good as new. */
export async function requireFree(
  { name, state, nodeId, error, member, isNew }: SeenServer,
  clusterId: ClusterId,
  nodes: readonly SwarmNode[] | null,
): Promise<void> {
  if (!isNew || state === 'inactive') return;
  if (nodes?.some(({ id }) => id === nodeId)) return;
  if (nodes === null && (await isOfCluster(member, clusterId))) return;
  throw new Fault(
    'server_in_swarm',
    `${name} stands in a Docker Swarm already, which Slipway did not make for this cluster.`,
    {
      hint: 'If nothing needs that swarm any more, run `docker swarm leave --force` on the server, then add it again.',
      evidence: `${state}, node ${nodeId} ${error}`.trim(),
    },
  );
}

/** By which the others reach each; a member keeps the one that it has joined with. */
export function addressesOf(
  servers: readonly Pick<SeenServer, 'serverId' | 'name' | 'addresses' | 'loginAddress'>[],
  network: string | null,
  members: readonly { readonly serverId: ServerId; readonly name: string; readonly address: string | null }[],
): ReadonlyMap<ServerId, string> {
  const known = members.flatMap(({ serverId, name, address }) =>
    address ? [{ serverId, name, address }] : [],
  );
  const found = new Map(known.map(({ serverId, address }) => [serverId, address]));
  const names = new Map(known.map(({ name, address }) => [address, name]));
  for (const { serverId, name, addresses, loginAddress } of servers) {
    if (found.has(serverId)) continue;
    const address = network === null ? loginAddress : addresses.find((each) => isIn(network, each));
    if (address === undefined || !isIPv4(address) || !addresses.includes(address))
      throw noAddress(name, network, addresses);
    const same = names.get(address);
    if (same !== undefined)
      throw new Fault('server_not_in_network', `${same} and ${name} both have the address ${address}.`, {
        hint: 'Name the network in which each has an address of its own, as `network` of the cluster.',
        evidence: addresses.join(', '),
      });
    names.set(address, name);
    found.set(serverId, address);
  }
  return found;
}

function noAddress(name: string, network: string | null, addresses: readonly string[]): Fault {
  const where = network === null ? 'at which it is logged in to' : `in ${network}`;
  return new Fault('server_not_in_network', `${name} has no IPv4 address of its own ${where}.`, {
    hint: 'Members speak over IPv4, by addresses of their own interfaces. Name a network that all of them are in, as `network` of the cluster.',
    evidence: `its addresses: ${addresses.join(', ') || 'none'}`,
  });
}

function isIn(network: string, address: string): boolean {
  const [start = '', bits = ''] = network.split('/');
  const list = new BlockList();
  list.addSubnet(start, Number(bits), 'ipv4');
  return isIPv4(address) && list.check(address, 'ipv4');
}

/** `10.0.0.0/16`: what a network is written as, with nothing after its own bits. */
export function isNetwork(text: string): boolean {
  const [start = '', bits = ''] = text.split('/');
  if (!isIPv4(start) || !/^(8|9|1\d|2\d|30)$/.test(bits)) return false;
  const number = start.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return number % 2 ** (32 - Number(bits)) === 0;
}
