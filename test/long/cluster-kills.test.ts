/** Deployments on a cluster, killed at the writes of their journal, with visitors at every proxy. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { clusterWrongs } from '../faults/cluster-aftermath.ts';
import { Ground } from '../faults/ground.ts';
import { type Course, entriesOf } from '../faults/trials.ts';
import { killedAt } from '../support/cluster-kills.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';

const lab = await openLab();
const ground = await Ground.open(lab.client, lab.about, await createTestDatabase(), {
  leaseMs: 2_000,
  servers: 3,
});
after(() => ground.close());

function deploymentKilledAt(t: TestContext, course: Course, entries: readonly string[]): Promise<string> {
  return killedAt(t, ground, {
    entries,
    visited: ground.servers,
    begin: async () => ground.deploy(await ground.push({ name: `${course.kind} ${entries.length}` })),
    ...(course.kind === 'cancel' && {
      cancel: { at: course.at, ask: async (id) => assert.equal(await ground.cancel(id), true) },
    }),
    ended: async (id) => {
      const { status, fault } = await ground.ended(id);
      return `${status}${fault ? ` ${JSON.stringify(fault)}` : ''}`;
    },
    wrongs: () => clusterWrongs(ground, ground.servers, [ground.environmentId, ground.otherId]),
  });
}

test('killed at each write of its journal, a deployment of six replicas is ended by whoever is left', async (t) => {
  const course = { kind: 'deploy' } as const;
  assert.equal(await deploymentKilledAt(t, course, entriesOf(course)), 'succeeded');
});

test('killed at each write of its undoing, a cancelled one leaves all proxies at the old release', async (t) => {
  const course = { kind: 'cancel', at: 'switch' } as const;
  const entries = entriesOf(course);
  const undoing = entries.slice(entries.indexOf('turn cancelled'));
  assert.match(await deploymentKilledAt(t, course, undoing), /^cancelled/);
});
