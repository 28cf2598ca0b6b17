/** What keeps data on a cluster, and what has to run once: services at home and reached from everywhere, volumes, cron. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { count, counting, storingFiles } from '../support/cluster-apps.ts';
import { ClusterScene, push, release } from '../support/cluster-deployments.ts';
import { type Body, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('services of a cluster are at home and reached from every server, cron runs once for all, and a volume has one app', async (t) => {
  const cluster = await ClusterScene.open(t, lab);
  const { scene, clusterId, ids } = cluster;
  const finished = (id: unknown): Promise<Body> =>
    until(async () => {
      const found = await scene.call('GET', `/operations/${id}`);
      return found.finishedAt !== null && found;
    }, 'the operation to end');
  const { environmentId, deployment } = await scene.deployed({
    files: release('counting', counting),
    name: 'shop',
    services: [{ kind: 'redis', name: 'cache' }],
    settings: {
      drainSeconds: 5,
      stopSeconds: 2,
      processes: { nightly: { command: 'node server.js tick', schedule: '* * * * *' } },
    },
    placement: { clusterId, replicas: 3 },
  });
  succeeded(deployment);
  const shown = await scene.call('GET', `/environments/${environmentId}`);
  const home = ids.indexOf(String(shown.serverId));
  const [cache] = Array.from(Object(shown.services), Object);
  const redis = (words: string) =>
    cluster.sh(
      home,
      `docker exec slipway-${cache.id} sh -c 'REDISCLI_AUTH=$REDIS_PASSWORD redis-cli ${words}'`,
    );
  const ticks = async () => (await redis('keys tick:*')).split('\n').filter(Boolean).length;
  const urls = await cluster.urls(environmentId);
  let visits = 0;
  const visitAll = async () => {
    for (const url of urls)
      for (let each = 0; each < 4; each += 1) {
        visits += 1;
        assert.equal(await count(url), visits);
      }
  };

  await t.test('each replica finds the service by its name, wherever it runs', async () => {
    const places = new Set((await cluster.containers(environmentId)).map(({ serverId }) => serverId));
    assert.ok(places.size >= 2, 'some are on other servers than the service');
    await visitAll();
    await push(scene, release('counting again', `${counting}\n`));
    succeeded(await scene.deploy(environmentId));
    await visitAll();
  });

  await t.test('however many servers say it, a minute is run once', async () => {
    const begun = await ticks();
    await until(async () => (await ticks()) >= begun + 1, 'the timers to have run a minute');
    // In that minute, all at once and twice each.
    const unit = `slipway-cron-${environmentId}-0.service`;
    for (let round = 0; round < 2; round += 1)
      await Promise.all([0, 1, 2].map((place) => cluster.sh(place, `systemctl start ${unit}`)));
    for (const key of (await redis('keys tick:*')).split('\n'))
      assert.equal(await redis(`get ${key}`), '1', key);
  });

  await t.test('one server is away, and cron goes on with the others', async () => {
    const away = [0, 1, 2].find((place) => place !== home) ?? 0;
    await lab.client.cut(cluster.name(away));
    const before = await ticks();
    await until(async () => (await ticks()) >= before + 1, 'a minute to be run without it');
    await lab.client.heal(cluster.name(away));
    await until(
      async () =>
        !(await cluster.sh(home, `docker node ls --format '{{.Status}}' || echo Down`)).includes('Down'),
      'it to be back',
    );
    for (const key of (await redis('keys tick:*')).split('\n'))
      assert.equal(await redis(`get ${key}`), '1', key);
  });

  await t.test('a backup is made at home and brought back', async () => {
    const path = `/environments/${environmentId}/backups`;
    const { id } = await scene.call('POST', `${path}/trigger`, {});
    const backup = await until(async () => {
      const found = await scene.call('GET', `${path}/${id}`);
      return found.finishedAt !== null && found;
    }, 'the backup to end');
    assert.equal(backup.status, 'succeeded', JSON.stringify(backup.fault));
    await redis('set visits 7000');
    const { id: restore } = await scene.call('POST', `${path}/${id}/restore`, {});
    const restored = await finished(restore);
    assert.equal(restored.status, 'succeeded', JSON.stringify(restored.fault));
    await visitAll();
  });

  await t.test('its home does not leave, and is not rebooted unasked', async () => {
    const { call } = scene.git.service;
    const options = { token: scene.token };
    const leaving = await call('DELETE', `/clusters/${clusterId}/servers/${ids[home]}`, options);
    assert.equal(leaving.body.code, 'in_use', leaving.text);
    assert.match(leaving.text, /services\/cache/);
    const reboot = await call('POST', `/clusters/${clusterId}/rolling-reboot`, { ...options, body: {} });
    assert.equal(reboot.body.code, 'downtime_unconfirmed', reboot.text);
    assert.match(reboot.text, /shop\/production/);
  });

  await t.test('an app with a volume runs where the volume is, one after the other', async () => {
    const made = await scene.deployed({
      files: storingFiles,
      name: 'files',
      settings: { stopSeconds: 2, volumes: [{ name: 'data', path: '/data' }] },
      placement: { clusterId, replicas: 1 },
    });
    succeeded(made.deployment);
    const [first = ''] = await cluster.urls(made.environmentId);
    assert.equal(await count(first), 1);
    succeeded(await scene.deploy(made.environmentId));
    for (const [at, url] of (await cluster.urls(made.environmentId)).entries())
      assert.equal(await count(url), at + 2, 'the new one has the file of the old');
    const { serverId } = await scene.call('GET', `/environments/${made.environmentId}`);
    assert.deepEqual(
      [...new Set((await cluster.containers(made.environmentId)).map((each) => each.serverId))],
      [serverId],
    );
    const { id } = await scene.call('DELETE', `/environments/${made.environmentId}?deleteData=true`);
    assert.equal((await finished(id)).status, 'succeeded');
    for (const place of [0, 1, 2])
      assert.equal(
        await cluster.sh(place, `docker volume ls --quiet | grep -c ${made.environmentId} || true`),
        '0',
      );
  });

  await t.test('it goes with its services, and leaves nothing on any server', async () => {
    const { id } = await scene.call('DELETE', `/environments/${environmentId}?deleteData=true`);
    const removal = await finished(id);
    assert.equal(removal.status, 'succeeded', JSON.stringify(removal.fault));
    const left = `docker ps --all --quiet --filter label=slipway.environment | wc -l
      docker volume ls --quiet --filter label=slipway.environment | wc -l
      docker network ls --quiet --filter label=slipway.environment=${environmentId} | wc -l
      ls /etc/systemd/system | grep -c slipway-cron || true`;
    for (const place of [0, 1, 2])
      assert.equal(await cluster.sh(place, left), '0\n0\n0\n0', `on ${cluster.name(place)}`);
  });
});
