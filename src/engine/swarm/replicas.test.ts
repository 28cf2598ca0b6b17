import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SwarmService, SwarmTask } from '../../adapters/docker/swarm-services.ts';
import { areAtRest, replicasFrom, stateOf } from './replicas.ts';

const service: SwarmService = {
  id: 'service',
  name: 'slipway-web-1',
  labels: {},
  version: 1,
  spec: {},
  image: '',
  replicas: 1,
  publishedPort: 22_000,
  memoryMb: 256,
  runsOnce: false,
  hasVolumes: false,
  isOnOneNode: false,
  refusedBy: [],
};

const task = (state: string, desiredState: string, containerId = 'container'): SwarmTask => ({
  id: state,
  serviceId: service.id,
  nodeId: 'node',
  state,
  desiredState,
  createdAt: '',
  at: '',
  error: '',
  containerId,
  exitCode: 0,
});

function seen(...tasks: readonly SwarmTask[]) {
  const [replica] = replicasFrom([service], tasks);
  assert.ok(replica);
  const { status, restarts } = stateOf({ servers: [] }, replica);
  return { status, restarts };
}

test('a replica that a server refused to start has not crashed: it is missing, and can be put right', () => {
  const refused = task('rejected', 'shutdown');
  assert.deepEqual(seen(task('preparing', 'running'), refused), { status: 'created', restarts: 0 });
  assert.deepEqual(seen(task('ready', 'ready'), refused, refused), { status: 'created', restarts: 0 });
  assert.deepEqual(seen(task('running', 'running'), refused), { status: 'running', restarts: 0 });
});

test('nor has one that failed before it had a container', () => {
  const failed = task('failed', 'shutdown', '');
  assert.deepEqual(seen(task('ready', 'ready'), failed), { status: 'created', restarts: 0 });
  assert.deepEqual(seen(task('running', 'running'), failed), { status: 'running', restarts: 0 });
});

test('a replica that ended by itself has crashed, beside whatever was refused', () => {
  const [crashed, refused] = [task('failed', 'shutdown'), task('rejected', 'shutdown')];
  const waiting = task('ready', 'ready');
  assert.deepEqual(seen(waiting, crashed, refused), { status: 'restarting', restarts: 1 });
  assert.deepEqual(seen(task('running', 'running'), crashed), { status: 'running', restarts: 1 });
});

test('a service is removed while Swarm forgets none of its tasks', () => {
  const [failed, leaving] = [task('failed', 'shutdown'), task('shutdown', 'remove')];
  assert.equal(areAtRest([]), true);
  assert.equal(areAtRest([failed, failed]), false, 'one of them may be forgotten by the next look');
  assert.equal(areAtRest([failed], [failed, failed]), false);
  assert.equal(areAtRest([failed], [failed]), true);
  assert.equal(areAtRest([failed, leaving], [failed, leaving]), false);
  assert.equal(areAtRest([task('running', 'remove')], [task('running', 'remove')]), false);
});
