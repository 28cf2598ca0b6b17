/** The servers of a cluster are emptied and rebooted while people visit what runs there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterScene, Crowd, release, visit } from '../support/cluster-deployments.ts';
import { type Body, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const rebootMs = 20 * 60_000;

test('servers of a cluster are drained, and all of them rebooted in turn: nobody who visits loses a request', async (t) => {
  const cluster = await ClusterScene.open(t, lab);
  const { scene, clusterId, ids } = cluster;
  const made = await scene.deployed({
    files: release('first'),
    name: 'shop',
    settings: { stopSeconds: 2 },
    placement: { clusterId, replicas: 6 },
  });
  succeeded(made.deployment);
  const { environmentId } = made;
  const urls = await cluster.urls(environmentId);
  const done = async (started: Body) => {
    const ended = await until(
      async () => {
        const operation = await scene.call('GET', `/operations/${started.id}`);
        return operation.finishedAt !== null && operation;
      },
      'the work on the cluster to end',
      rebootMs,
    );
    assert.equal(ended.status, 'succeeded', JSON.stringify(ended));
  };
  const countOn = async (id: string | undefined) =>
    (await cluster.containers(environmentId)).filter(
      ({ state, serverId }) => state === 'running' && serverId === id,
    ).length;

  await t.test('one is drained and taken back: no request is lost through any proxy', async (t) => {
    const crowd = new Crowd(t, urls);
    await until(async () => crowd.answered > 50, 'the crowd to be there');
    await done(await scene.call('POST', `/clusters/${clusterId}/servers/${ids[2]}/drain`));
    assert.equal(await countOn(ids[2]), 0);
    assert.equal((await countOn(ids[0])) + (await countOn(ids[1])), 6);
    await done(await scene.call('POST', `/clusters/${clusterId}/servers/${ids[2]}/activate`));
    await crowd.end();
    t.diagnostic(`${crowd.answered} requests answered through three proxies`);
    assert.deepEqual(crowd.failures, []);
  });

  await t.test(
    'all are rebooted: who is turned away by one that is down is answered by the next',
    async (t) => {
      const bootIds = () =>
        Promise.all(ids.map((_, place) => cluster.sh(place, 'cat /proc/sys/kernel/random/boot_id')));
      const before = await bootIds();
      const crowd = new Crowd(t, urls, { goesElsewhere: true });
      await until(async () => crowd.answered > 50, 'the crowd to be there');
      await done(await scene.call('POST', `/clusters/${clusterId}/rolling-reboot`, {}));
      await crowd.end();
      t.diagnostic(`${crowd.answered} requests answered, ${crowd.turnedAway} connections not taken`);
      assert.deepEqual(crowd.failures, []);
      const after = await bootIds();
      for (const [place, id] of after.entries()) assert.notEqual(id, before[place], cluster.name(place));
      for (const url of urls) assert.equal(await visit(url), 'first');
      const nodes = await cluster.sh(0, `docker node ls --format '{{.Status}} {{.Availability}}'`);
      assert.equal(nodes, 'Ready Active\nReady Active\nReady Active');
    },
  );
});
