/** Deployments on a cluster, killed at the writes of their journal, with visitors at every proxy. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { leftWrongs, look, of } from '../faults/aftermath.ts';
import { Ground } from '../faults/ground.ts';
import { type Course, entriesOf } from '../faults/trials.ts';
import { cause, order } from '../faults/troubles.ts';
import { Crowd } from '../support/cluster-deployments.ts';
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
const replicas = 6;

/** On no server is anything but the replicas of the two current releases, and every proxy has all of them. */
async function wrongs(): Promise<string[]> {
  const wrong: string[] = [];
  const environments = await Promise.all([ground.environment(), ground.environment(ground.otherId)]);
  const wanted = environments.flatMap(({ currentDeploymentId }) =>
    Array.from({ length: replicas }, (_, index) => `slipway-${currentDeploymentId}-web-${index + 1}`),
  );
  const services = (await ground.sh(`docker service ls --format '{{.Name}} {{.Replicas}}'`)).split('\n');
  if (
    services.sort().join() !==
    wanted
      .map((name) => `${name} 1/1`)
      .sort()
      .join()
  )
    wrong.push(`services: ${services.join(', ')}`);
  let running = 0;
  for (const server of ground.servers) {
    const seen = await ground.sh(look, server);
    wrong.push(...leftWrongs(seen).map((each) => `${server.name}: ${each}`));
    for (const container of of(seen, 'container')) {
      const [, deployment, state] = container.split(' ');
      const isCurrent = environments.some(({ currentDeploymentId }) => currentDeploymentId === deployment);
      if (isCurrent && state === 'running') running += 1;
      else wrong.push(`${server.name}: ${container}`);
    }
    const fronts = await ground.sh('cat /var/lib/slipway/proxy/config/front-*', server);
    const missing = wanted.filter((name) => !fronts.includes(name));
    const named = new Set(fronts.match(/slipway-[0-9a-f-]{36}-web-\d+/g));
    if (missing.length > 0 || named.size !== wanted.length)
      wrong.push(`${server.name}: the proxy names ${[...named].join(', ')}`);
  }
  if (running !== wanted.length) wrong.push(`${running} containers run`);
  return wrong;
}

async function killedAt(t: TestContext, course: Course, entries: readonly string[]): Promise<string> {
  const points = pointsOf(entries);
  const trouble = { kind: 'kill', points } as const;
  const { port } = new URL(ground.url);
  const crowd = new Crowd(
    t,
    ground.servers.map(({ address }) => `http://${address}:${port}/`),
  );
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
      found = await wrongs();
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
