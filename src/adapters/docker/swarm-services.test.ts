import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call } from './docker.ts';
import {
  letServiceGo,
  moveService,
  moveServiceBack,
  readServices,
  type SwarmService,
  startServiceAnew,
} from './swarm-services.ts';

const spec = {
  Name: 'slipway-web-1',
  Labels: { slipway: 'app' },
  TaskTemplate: { ContainerSpec: { Image: 'shop' }, ForceUpdate: 2 },
  Mode: { Replicated: { Replicas: 1 } },
};
const service = read(spec);

function read(Spec: unknown): SwarmService {
  const body = [{ ID: 'abc', Version: { Index: 7 }, Spec }];
  const [one] = readServices({ status: 200, body, bytes: Buffer.alloc(0) });
  assert.ok(one);
  return one;
}

/** As Docker has it once it was told. */
function after(call: Call | null): SwarmService {
  assert.ok(call);
  return read(call.body);
}

test('a service is moved to a node by stopping it first, and let go with nothing else changed', () => {
  const moved = moveService(service, 'node-3');
  assert.equal(moved?.path, '/services/abc/update?version=7');
  assert.deepEqual(moved?.body, {
    ...spec,
    TaskTemplate: { ...spec.TaskTemplate, Placement: { Constraints: ['node.id==node-3'] } },
    UpdateConfig: { Parallelism: 1, Order: 'stop-first' },
  });
  const there = after(moved);
  assert.equal(moveService(there, 'node-3'), null, 'it is there already');
  const back = after(moveServiceBack(there, 'node-1', 'node-3'));
  assert.deepEqual(back.refusedBy, ['node-3']);
  assert.equal(moveServiceBack(back, 'node-1', 'node-3'), null, 'it is back already');
  assert.deepEqual(after(moveServiceBack(after(moveService(back, 'node-2')), 'node-1', 'node-2')).refusedBy, [
    'node-3',
    'node-2',
  ]);
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
