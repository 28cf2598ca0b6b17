/** One server as a member of a cluster: what it brings along, and its way into a swarm and out of it. */
import { ask } from '../../adapters/docker/ask.ts';
import { listImages, readImages, removeImage } from '../../adapters/docker/images.ts';
import {
  createGatewayBridge,
  info,
  initSwarm,
  inspectSwarm,
  joinSwarm,
  leaveSwarm,
  readSwarm,
  readSwarmView,
  removeGatewayBridge,
  type SwarmView,
} from '../../adapters/docker/swarm.ts';
import { readCertificates, removeCertificate } from '../../adapters/proxy/certificates.ts';
import { removeFront } from '../../adapters/proxy/front-changes.ts';
import { readFronts } from '../../adapters/proxy/read-fronts.ts';
import { removeAllTimers } from '../../adapters/timers/timers.ts';
import type { ClusterId } from '../../ids.ts';
import type { Fence, Remote } from '../../remote/remote.ts';
import { Secret } from '../../secret.ts';

export interface SwarmMember {
  readonly remote: Remote;
  /** Of the operation that works there; who only looks has none. */
  readonly fence?: Fence;
  readonly signal: AbortSignal;
}

export interface MemberFacts extends SwarmView {
  /** IPv4, of all its interfaces but those of Docker. */
  readonly addresses: readonly string[];
  /** The one that it is logged in to at. */
  readonly loginAddress: string;
  readonly hasVxlan: boolean;
  readonly canEncrypt: boolean;
}

export async function readMember({ remote, signal }: SwarmMember): Promise<MemberFacts> {
  // By the user's own environment: sudo leaves it behind.
  const connection = await remote.output(['printenv', 'SSH_CONNECTION'], { asRoot: false, signal });
  const printed = (await remote.script(factsScript, [], { signal })).toString();
  const of = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(printed)?.[1]?.trim() ?? '';
  const [reply] = await ask(remote, [info], { signal });
  if (!reply) throw new Error('Docker left a question without an answer');
  return {
    ...readSwarmView(reply),
    addresses: of('addresses').split(' ').filter(Boolean),
    loginAddress: connection.toString().split(' ')[2] ?? '',
    hasVxlan: of('vxlan') === 'yes',
    canEncrypt: of('esp') === 'yes',
  };
}

/** What the kernel can do is tried in a network namespace that ends with the command. */
const factsScript = `
can() { if unshare --net -- "$@" > /dev/null 2>&1; then echo yes; else echo no; fi; }
echo "vxlan=$(can ip link add name slipway-try type vxlan id 42 dstport 4789)"
echo "esp=$(can ip xfrm state add src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x1 reqid 1 mode transport \\
  aead 'rfc4106(gcm(aes))' 0x0102030405060708090a0b0c0d0e0f1011121314 64)"
echo "addresses=$(ip -o -4 addr show scope global |
  while read -r _ name _ address _; do
    case $name in docker*|br-*|veth*) ;; *) printf '%s ' "\${address%/*}" ;; esac
  done)"
`;

const labelsOf = (clusterId: ClusterId) => ({ 'slipway.cluster': clusterId });

async function viewOf({ remote, signal }: SwarmMember): Promise<SwarmView> {
  const [reply] = await ask(remote, [info], { signal });
  if (!reply) throw new Error('Docker left a question without an answer');
  return readSwarmView(reply);
}

export async function hasLiveRestore(member: SwarmMember): Promise<boolean> {
  return (await viewOf(member)).hasLiveRestore;
}

/** Whether the swarm that it manages is this cluster's. Undefined where it manages none, or none with a leader. */
export async function isOfCluster(
  { remote, signal }: SwarmMember,
  clusterId: ClusterId,
): Promise<boolean | undefined> {
  const [reply] = await ask(remote, [inspectSwarm], { signal });
  const swarm = reply && readSwarm(reply);
  return swarm && swarm.labels['slipway.cluster'] === clusterId;
}

/** The first server makes the swarm; one that was made before by this cluster is as good. */
export async function ensureSwarm(
  member: SwarmMember,
  address: string,
  clusterId: ClusterId,
): Promise<string> {
  const before = await viewOf(member);
  if (before.state !== 'active') {
    const gateway = createGatewayBridge({ slipway: 'network' });
    await ask(member.remote, [gateway, initSwarm(address, labelsOf(clusterId))], sending(member));
  }
  return (await viewOf(member)).nodeId;
}

/** Its node's id. The token is asked of a manager each time, and stored nowhere. */
export async function ensureJoined(
  member: SwarmMember,
  address: string,
  manager: SwarmMember,
  managerAddresses: readonly string[],
): Promise<string> {
  const before = await viewOf(member);
  if (before.state === 'active') return before.nodeId;
  // What a broken-off attempt left would refuse the next.
  if (before.state !== 'inactive') await ask(member.remote, [leaveSwarm], sending(member));
  const [reply] = await ask(manager.remote, [{ ...inspectSwarm, ok: [200] }], { signal: manager.signal });
  const token = (reply && readSwarm(reply)?.workerToken) ?? '';
  const gateway = createGatewayBridge({ slipway: 'network' });
  await ask(member.remote, [gateway, joinSwarm(address, managerAddresses, token)], {
    ...sending(member),
    secrets: [new Secret(token)],
  });
  return (await viewOf(member)).nodeId;
}

/** Once it has left, nothing of the swarm stays on it. */
export async function leave(member: SwarmMember): Promise<void> {
  await ask(member.remote, [leaveSwarm], sending(member));
  await ask(member.remote, removeGatewayBridge, sending(member));
}

/** Nor of what stands on the cluster: the others serve it. */
export async function removeServing({ remote, signal }: SwarmMember, fence: Fence): Promise<void> {
  const work = { remote, fence, signal };
  for (const { id } of (await readFronts(work)).fronts) await removeFront(work, id);
  for (const { id } of await readCertificates(work)) await removeCertificate(work, id);
  await removeAllTimers(remote, signal);
}

/** Copies, of which the others have the same. */
export async function removeImages({ remote, signal }: SwarmMember, fence: Fence): Promise<void> {
  const [listed] = await ask(remote, [listImages({ slipway: 'image' })], { signal });
  const images = listed ? readImages(listed) : [];
  const calls = images.flatMap(({ tags }) => tags.map((tag) => removeImage(tag)));
  await ask(remote, calls, { fence, signal });
}

export function sending({ fence, signal }: SwarmMember) {
  return { signal, ...(fence && { fence }) };
}
