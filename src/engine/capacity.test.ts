import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Capacity, capacityOf, forContainers, limitsOf } from './capacity.ts';

const gigabytes = (memory: number, cpus: number): Capacity => ({ memoryMb: memory * 1_024, cpus });

test('whoever wants a server’s last memory finds a reserve for the system, on servers of every size', () => {
  const cases: readonly (readonly [Capacity, Capacity])[] = [
    [gigabytes(0.25, 1), { memoryMb: 128, cpus: 0.9 }],
    [gigabytes(1, 1), { memoryMb: 768, cpus: 0.9 }],
    [gigabytes(4, 2), { memoryMb: 3_686, cpus: 1.8 }],
    [gigabytes(64, 16), { memoryMb: 64_512, cpus: 14.4 }],
  ];
  for (const [server, left] of cases) assert.deepEqual(forContainers(server), left);
});

test('a container has what was set for it, a part of the server by default, and never more than there is', () => {
  const of = (memoryMb: number | null, cpus: number | null, server = gigabytes(4, 2)) => {
    const limits = limitsOf({ memoryMb, cpus }, server);
    return [limits.memoryMb.limit, limits.memoryMb.source, limits.cpus.limit, limits.cpus.source];
  };
  assert.deepEqual(of(null, null), [2_764, 'default', 1.8, 'default']);
  assert.deepEqual(of(256, 0.5), [256, 'setting', 0.5, 'setting']);
  assert.deepEqual(of(9_999, 64), [3_686, 'server', 1.8, 'server']);
  assert.deepEqual(of(null, null, gigabytes(0.5, 1)), [256, 'default', 0.9, 'default']);
  assert.deepEqual(of(null, null, capacityOf(null)), [576, 'default', 0.9, 'default']);
});
