/** The network between servers is cut so that the service sees the smaller part: what runs twice, and what is true afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookAtDue } from '../../src/areas/clusters/look.ts';
import { sql } from '../../src/store/sql.ts';
import { count, counting } from '../support/cluster-apps.ts';
import { ClusterScene, push, release } from '../support/cluster-deployments.ts';
import { succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('with the service on the side of the minority, the majority goes on, nothing runs twice, and all is even afterwards', async (t) => {
  const cluster = await ClusterScene.open(t, lab);
  const { scene, clusterId, ids, servers } = cluster;
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
  const ticks = async () => (await redis('keys tick:*')).split('\n').filter(Boolean);
  const alone = [0, 1, 2].find((place) => place !== home) ?? 0;
  const others = [0, 1, 2].filter((place) => place !== alone);
  const addressOf = (place: number) => servers[place]?.about.address ?? '';
  const theirs = others.map(addressOf).join(', ');
  const host = addressOf(0).replace(/\d+$/, '1');
  await cluster.sh(
    alone,
    `nft add table inet parted
nft add chain inet parted input '{ type filter hook input priority -200; }'
nft add chain inet parted output '{ type filter hook output priority -200; }'
nft add rule inet parted input ip saddr '{ ${theirs} }' drop
nft add rule inet parted output ip daddr '{ ${theirs} }' drop`,
  );
  for (const place of others)
    await cluster.sh(
      place,
      `nft add table inet parted
nft add chain inet parted input '{ type filter hook input priority -200; }'
nft add rule inet parted input ip saddr ${host} tcp dport 22 drop`,
    );
  const { store, contexts } = scene.git.service.app;
  const statusOf = async () => {
    await store.db.run(sql`update clusters set check_at = now() - interval '1 day'`);
    await lookAtDue(contexts.clusters);
    return (await scene.call('GET', `/clusters/${clusterId}`)).status;
  };
  const seen: unknown[] = [];
  await until(
    async () => {
      seen.push(await statusOf());
      return seen.at(-1) !== 'ready';
    },
    async () => `the service to see that there is no majority; it says ${seen}`,
    120_000,
  );
  assert.equal(seen.at(-1), 'no_quorum', 'one of the managers answers');
  const urls = await cluster.urls(environmentId);
  const before = (await ticks()).length;
  // It is asked for on the wrong side: it waits for the majority, or says why not, and changes nothing meanwhile.
  await push(scene, release('counting again', `${counting}\n`));
  const { id } = await scene.call('POST', `/environments/${environmentId}/deployments`, {});
  await until(
    async () => (await cluster.sh(home, `docker node ls --format '{{.Status}}'`)).includes('Down'),
    'the majority to see that one is away',
  );
  await until(async () => (await ticks()).length >= before + 2, 'cron to run with the majority');
  for (const place of others) assert.ok((await count(urls[place] ?? '')) > 0, 'visitors are served there');

  for (const place of [0, 1, 2]) await cluster.sh(place, 'nft delete table inet parted');
  await until(async () => (await statusOf()) === 'ready', 'the cluster to be whole again');
  const ended = await scene.ended(environmentId, String(id));
  t.diagnostic(`the deployment that was asked for meanwhile has ${ended.status}`);
  await until(async () => {
    await cluster.look();
    return (await scene.call('GET', `/environments/${environmentId}`)).status === 'running';
  }, 'the environment to be well');
  const { currentDeploymentId } = await scene.call('GET', `/environments/${environmentId}`);
  assert.equal(currentDeploymentId, ended.status === 'succeeded' ? id : deployment.id);
  await until(async () => {
    const names = (await cluster.containers(environmentId)).map((each) => JSON.stringify(each));
    const web = names.filter((each) => each.includes('-web-'));
    return web.length === 3 && web.every((each) => each.includes(String(currentDeploymentId)));
  }, 'three replicas of the release that is live, and none beside them');
  for (const url of urls) assert.ok((await count(url)) > 0);
  for (const key of await ticks()) assert.equal(await redis(`get ${key}`), '1', key);
});
