/** Deployments on a cluster, killed at the writes of their journal, with visitors at every proxy. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { clusterWrongs } from '../faults/cluster-aftermath.ts';
import { Ground } from '../faults/ground.ts';
import { type Course, entriesOf } from '../faults/trials.ts';
import { cause, order } from '../faults/troubles.ts';
import { Crowd } from '../support/crowd.ts';
import { pointsOf } from '../support/deploy-kills.ts';
import { openLab } from '../support/lab.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const ground = await Ground.open(lab.client, lab.about, await createTestDatabase(), {
  leaseMs: 2_000,
  servers: 3,
});
after(() => ground.close());
async function killedAt(t: TestContext, course: Course, entries: readonly string[]): Promise<string> {
  const points = pointsOf(entries);
  const trouble = { kind: 'kill', points } as const;
  const { port } = new URL(ground.url);
  const crowd = new Crowd(ground.servers.map(({ address }) => `http://${address}:${port}/`));
  t.after(() => crowd.end());
  // What clears up after the deployment before has writes of the same names.
  await ground.quiet(120_000);
  ground.orders.clear();
  order(ground, trouble);
  const cancelAt =
    course.kind === 'cancel' ? ({ moment: 'after', entry: `${course.at} running` } as const) : null;
  if (cancelAt) ground.orders.give(cancelAt, 'wait');
  const id = await ground.deploy(await ground.push({ name: `${course.kind} ${points.length}` }));
  if (cancelAt) {
    await ground.orders.met(cancelAt, 300_000);
    assert.equal(await ground.cancel(id), true);
    ground.orders.letGo(cancelAt);
  }
  await cause({ ground, database: undefined, deploymentId: id }, trouble);
  const { status, fault } = await ground.ended(id);
  await ground.revive();
  await ground.quiet(120_000);
  let found: string[] = [];
  await until(
    async () => {
      found = await clusterWrongs(ground, ground.servers, [ground.environmentId, ground.otherId]);
      return found.length === 0;
    },
    async () => `every server to be as it should: ${found.join('; ')}`,
  );
  await crowd.end();
  assert.deepEqual(crowd.failures, []);
  t.diagnostic(
    `${points.length} kills, ${crowd.answered} requests answered through three proxies, none lost`,
  );
  return `${status}${fault ? ` ${JSON.stringify(fault)}` : ''}`;
}

test('killed at each write of its journal, a deployment of six replicas is ended by whoever is left', async (t) => {
  const course = { kind: 'deploy' } as const;
  assert.equal(await killedAt(t, course, entriesOf(course)), 'succeeded');
});

test('killed at each write of its undoing, a cancelled one leaves all proxies at the old release', async (t) => {
  const course = { kind: 'cancel', at: 'switch' } as const;
  const entries = entriesOf(course);
  assert.match(await killedAt(t, course, entries.slice(entries.indexOf('turn cancelled'))), /^cancelled/);
});
