/** The servers of a cluster are emptied and rebooted while people visit what runs there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterScene, release } from '../support/cluster-deployments.ts';
import { Crowd, visit } from '../support/crowd.ts';
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
    const crowd = new Crowd(urls);
    t.after(() => crowd.end());
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
      const crowd = new Crowd(urls, { goesElsewhere: true });
      t.after(() => crowd.end());
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

  await t.test('with a single replica, requests wait until it runs on another server', async (t) => {
    await scene.call('PATCH', `/environments/${environmentId}/server`, {
      placement: { clusterId, replicas: 1 },
    });
    succeeded(await scene.deploy(environmentId));
    const there = async () =>
      (await cluster.containers(environmentId)).filter(({ state }) => state === 'running');
    await until(async () => (await there()).length === 1, 'the five others to be gone');
    const [only] = await there();
    const crowd = new Crowd(urls);
    t.after(() => crowd.end());
    await until(async () => crowd.answered > 50, 'the crowd to be there');
    await done(await scene.call('POST', `/clusters/${clusterId}/servers/${only?.serverId}/drain`));
    assert.notEqual((await there())[0]?.serverId, only?.serverId);
    await done(await scene.call('POST', `/clusters/${clusterId}/servers/${only?.serverId}/activate`));
    await crowd.end();
    t.diagnostic(`${crowd.answered} requests answered through three proxies`);
    assert.deepEqual(crowd.failures, []);
  });
});
