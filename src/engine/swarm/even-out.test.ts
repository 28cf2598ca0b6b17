import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SwarmService, SwarmTask } from '../../adapters/docker/swarm-services.ts';
import { nextMove } from './even-out.ts';
import type { Replica } from './replicas.ts';

const now = new Date('2026-11-18T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000);

const node = (id: string, backSeconds = 3_600, is: Partial<Parameters<typeof nextMove>[0][number]> = {}) => ({
  id,
  isUp: true,
  isDown: false,
  availability: 'active' as const,
  changedAt: ago(backSeconds),
  ...is,
});

const task = (nodeId: string, state: string): SwarmTask => ({
  id: `task-${nodeId}`,
  serviceId: '',
  nodeId,
  state,
  desiredState: 'running',
  createdAt: '',
  at: '',
  error: '',
  containerId: 'container',
  exitCode: 0,
});

/** `aaabb`: three on a, two on b. */
function on(nodes: string, is: Partial<SwarmService> = {}, state = 'running'): Replica[] {
  return [...nodes].map((id, index) => ({
    service: {
      id: `service-${index}`,
      name: `web-${index + 1}`,
      labels: {},
      version: 1,
      spec: {},
      image: '',
      replicas: 1,
      publishedPort: 22_000 + index,
      memoryMb: 256,
      runsOnce: false,
      hasVolumes: false,
      isOnOneNode: false,
      refusedBy: [],
      ...is,
    },
    task: task(id, state),
    failed: [],
  }));
}

const back = [node('a'), node('b'), node('c', 60)];

function moved(nodes: Parameters<typeof nextMove>[0], replicas: readonly Replica[]): string | undefined {
  const move = nextMove(nodes, replicas, now);
  return move && `${move.replica.task?.nodeId} to ${move.nodeId}`;
}

test('a server that has come back gets replicas until none has two more than another', () => {
  assert.equal(moved(back, on('aaabb')), 'a to c');
  assert.equal(moved(back, on('abbbc')), 'b to c');
  assert.equal(moved(back, on('aabbc')), undefined);
  assert.equal(moved(back, on('aabbcc')), undefined);
});

test('not one that has just come back, and not for ever', () => {
  assert.equal(moved([node('a'), node('b'), node('c', 10)], on('aaabbb')), undefined);
  assert.equal(moved([node('a'), node('b'), node('c', 3_600)], on('aaabbb')), undefined);
});

test('not one that is down, or takes nothing new, or while nobody knows of all', () => {
  const down = node('c', 60, { isUp: false, isDown: true });
  const unknown = node('c', 60, { isUp: false });
  for (const third of [down, unknown, node('c', 60, { availability: 'drain' })])
    assert.equal(moved([node('a'), node('b'), third], on('aaabbb')), undefined);
});

test('a server that did not take one is not asked again', () => {
  assert.equal(moved(back, [...on('aa', { refusedBy: ['d'] }), ...on('abb')]), 'a to c');
  assert.equal(moved(back, [...on('a', { refusedBy: ['d', 'c'] }), ...on('aabb')]), undefined);
});

test('nothing is moved while a replica is on its way or stopped, and nothing that has a volume', () => {
  assert.equal(moved(back, [...on('aaabb'), ...on('b', {}, 'starting')]), undefined);
  assert.equal(moved(back, on('aaabbb', { isOnOneNode: true })), undefined);
  assert.equal(moved(back, on('aaa', { isOnOneNode: true, hasVolumes: true })), undefined);
  assert.equal(moved(back, on('aaa', { runsOnce: true })), undefined);
});
