import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import { type DeploymentId, type EnvironmentId, newId, type ServerId, type WorkspaceId } from '../ids.ts';
import { addressIn, appContainer, appSlots, gatewayOf, serviceSlots, subnetOf } from './placement.ts';

const place = (network: number) => ({
  workspaceId: newId<WorkspaceId>(),
  environmentId: newId<EnvironmentId>(),
  serverId: newId<ServerId>(),
  clusterId: null,
  port: 21_000,
  network,
});
const last = 2_047;

test('the networks of a server fill the range that is set aside, and none reaches into another', () => {
  assert.equal(subnetOf(place(0)), '198.18.0.0/26');
  assert.equal(subnetOf(place(1)), '198.18.0.64/26');
  assert.equal(subnetOf(place(4)), '198.18.1.0/26');
  assert.equal(subnetOf(place(1_023)), '198.18.255.192/26');
  assert.equal(subnetOf(place(1_024)), '198.19.0.0/26');
  assert.equal(subnetOf(place(last)), '198.19.255.192/26');
  const all = new Set(Array.from({ length: last + 1 }, (_, network) => subnetOf(place(network))));
  assert.equal(all.size, last + 1);
});

test('every address of a place lies in its own network, below the broadcast, and is nobody else’s', () => {
  for (const network of [0, 3, 1_023, 1_024, last]) {
    const own = place(network);
    const [base = '', bits] = subnetOf(own).split('/');
    const inside = new BlockList();
    inside.addSubnet(base, Number(bits), 'ipv4');
    const slots = [serviceSlots, appSlots].flatMap(({ first, last: end }) =>
      Array.from({ length: end - first + 1 }, (_, index) => first + index),
    );
    const addresses = [gatewayOf(own), ...slots.map((slot) => addressIn(own, slot))];
    assert.equal(new Set(addresses).size, slots.length + 1);
    assert.ok(addresses.every((address) => inside.check(address)));
    assert.ok(!addresses.includes(addressIn(own, 0)) && !addresses.includes(addressIn(own, 63)));
  }
});

test('the largest app finds room beside its predecessor', () => {
  const room = appSlots.last - appSlots.first + 1;
  assert.ok(room >= 2 * 10, `${room} addresses for the replicas of two releases`);
});

test('a container is called after its deployment, its process and its number', () => {
  const id = newId<DeploymentId>();
  assert.equal(appContainer(id, 'web', 2), `slipway-${id}-web-2`);
});
