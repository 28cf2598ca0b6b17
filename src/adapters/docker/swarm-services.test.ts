import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letServiceGo, moveService, readServices, startServiceAnew } from './swarm-services.ts';

const spec = {
  Name: 'slipway-web-1',
  Labels: { slipway: 'app' },
  TaskTemplate: { ContainerSpec: { Image: 'shop' }, ForceUpdate: 2 },
  Mode: { Replicated: { Replicas: 1 } },
};
const [service] = readServices({
  status: 200,
  body: [{ ID: 'abc', Version: { Index: 7 }, Spec: spec }],
  bytes: Buffer.alloc(0),
});
assert.ok(service);

test('a service is moved to a node by stopping it first, and let go with nothing else changed', () => {
  const moved = moveService(service, 'node-3');
  assert.equal(moved.path, '/services/abc/update?version=7');
  assert.deepEqual(moved.body, {
    ...spec,
    TaskTemplate: { ...spec.TaskTemplate, Placement: { Constraints: ['node.id==node-3'] } },
    UpdateConfig: { Parallelism: 1, Order: 'stop-first' },
  });
  assert.deepEqual(letServiceGo(service).body, {
    ...spec,
    TaskTemplate: { ...spec.TaskTemplate, Placement: { Constraints: [] } },
  });
});

test('what a lost server runs is started anew before it is given up there', () => {
  assert.deepEqual(startServiceAnew(service).body, {
    ...spec,
    TaskTemplate: { ...spec.TaskTemplate, Placement: { Constraints: [] }, ForceUpdate: 3 },
    UpdateConfig: { Parallelism: 1, Order: 'start-first' },
  });
});
