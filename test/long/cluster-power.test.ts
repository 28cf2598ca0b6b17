/** The power of servers of a cluster is cut where it matters most, and an environment moves there and back, with visitors at every proxy. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { lookAtDue } from '../../src/areas/clusters/look.ts';
import { sql } from '../../src/store/sql.ts';
import { ClusterScene, push, release } from '../support/cluster-deployments.ts';
import { Crowd, visit } from '../support/crowd.ts';
import { addServer, succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();
const places = [0, 1, 2];
/** The proxies' own checks take out what is dead within two seconds, of a machine that has them to give. */
const noticedMs = 5_000;

test('the leader and the build server lose their power, and an environment moves to a server and back', async (t) => {
  const cluster = await ClusterScene.open(t, lab);
  const { scene, clusterId, ids } = cluster;
  const made = await scene.deployed({
    files: release('first'),
    name: 'shop',
    settings: { drainSeconds: 5, stopSeconds: 2 },
    placement: { clusterId, replicas: 6 },
  });
  succeeded(made.deployment);
  const { environmentId } = made;
  const urls = await cluster.urls(environmentId);
  const { store, contexts } = scene.git.service.app;
  const placeOf = (id: unknown) => ids.indexOf(String(id));
  const runningOn = async (place: number) =>
    (await cluster.containers(environmentId)).filter(
      ({ state, serverId }) => state === 'running' && placeOf(serverId) === place,
    ).length;
  /** With visitors of the others, who may lose what the server had, and nothing after. */
  const without = async (t: TestContext, place: number, work: () => Promise<void>) => {
    const crowd = new Crowd(urls.filter((_, at) => at !== place));
    t.after(() => crowd.end());
    await until(async () => crowd.answered > 50, 'the crowd to be there');
    const cutAt = Date.now();
    await lab.client.cut(cluster.name(place));
    await work();
    const tookMs = Date.now() - cutAt;
    await crowd.end();
    await lab.client.heal(cluster.name(place));
    const late = crowd.failures.filter(({ begunAt }) => begunAt > cutAt + noticedMs);
    const lastMs = Math.max(0, ...crowd.failures.map(({ begunAt }) => begunAt - cutAt));
    t.diagnostic(
      `${crowd.answered} answered, ${crowd.failures.length} lost in the first ${lastMs} ms; complete after ${tookMs} ms`,
    );
    assert.deepEqual(late, [], 'none is lost once the proxies have noticed');
  };
  /** As the servers see it: we ourselves wait for the silent one first. */
  const completeWithout = async (place: number) => {
    const count = (at: number) => cluster.sh(at, 'docker ps --quiet --filter label=slipway=app | wc -l');
    await until(async () => {
      const counts = await Promise.all(places.filter((each) => each !== place).map(count));
      return counts.map(Number).reduce((sum, each) => sum + each, 0) === 6;
    }, 'six replicas on the two that are left');
  };
  /** As often as the service does it by itself. */
  const looking = async (work: () => Promise<unknown>) => {
    const timer = setInterval(() => void cluster.look(), 10_000);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
  };
  const even = async () => {
    await until(async () => {
      await cluster.look();
      // While a leader is chosen, nobody knows.
      const list = `docker node ls --format '{{.Status}} {{.ManagerStatus}}' || echo Unknown`;
      return !/Down|Un/.test(await cluster.sh(0, list));
    }, 'all servers to be back');
    for (const url of urls)
      await until(async () => visit(url).catch(() => undefined), 'every proxy to answer again');
    await until(async () => {
      await store.db.run(sql`update clusters set check_at = now() - interval '1 day'`);
      await lookAtDue(contexts.clusters);
      return (await scene.call('GET', `/clusters/${clusterId}`)).status === 'ready';
    }, 'the cluster to be whole');
  };

  await t.test('of the leader: the replicas are complete again on the others', async (t) => {
    const { members } = await scene.call('GET', `/clusters/${clusterId}`);
    const leader = placeOf(Array.from(Object(members), Object).find(({ isLeader }) => isLeader)?.serverId);
    assert.ok(places.includes(leader), JSON.stringify(members));
    await without(t, leader, () => looking(() => completeWithout(leader)));
    await even();
    const crowd = new Crowd(urls);
    t.after(() => crowd.end());
    await looking(() =>
      until(async () => {
        const each = await Promise.all(places.map(runningOn));
        return each.join() === '2,2,2';
      }, 'two replicas on each again, with nobody asking for it'),
    );
    await crowd.end();
    t.diagnostic(`${crowd.answered} answered while replicas moved back`);
    assert.deepEqual(crowd.failures.slice(0, 3), []);
    succeeded(await scene.deploy(environmentId));
  });

  await t.test(
    'of the build server in the middle of a build: the old release serves on, and the build is ended when it is back',
    async (t) => {
      const slow = release('second');
      await push(scene, { ...slow, Dockerfile: `${slow.Dockerfile}RUN sleep 15\n` });
      const home = placeOf((await scene.call('GET', `/environments/${environmentId}`)).serverId);
      const { id } = await scene.call('POST', `/environments/${environmentId}/deployments`, {});
      const path = `/environments/${environmentId}/deployments/${id}`;
      await until(
        async () => (await cluster.sh(home, 'pgrep -x sleep || true')) !== '',
        async () => `the build to be under way: ${JSON.stringify(await scene.call('GET', path))}`,
        60_000,
      );
      await without(t, home, () => completeWithout(home));
      succeeded(await scene.ended(environmentId, String(id)));
      await even();
      const left = `ls -A /var/lib/slipway/builds 2> /dev/null; pgrep -x sleep || true`;
      await until(async () => (await cluster.sh(home, left)) === '', 'nothing of the build to be left');
      succeeded(await scene.deploy(environmentId));
      for (const url of urls) assert.equal(await visit(url), 'second');
    },
  );

  await t.test('moved to a server and back, nobody who asks where it stands loses a request', async (t) => {
    const fourth = await lab.fresh(t, 'provisioned');
    const serverId = await addServer(scene.git, fourth);
    const { port } = new URL(urls[0] ?? '');
    const alone = [`http://${fourth.about.address}:${port}/`];
    const moves = [
      { placement: { serverId }, from: urls, to: alone },
      { placement: { clusterId, replicas: 6 }, from: alone, to: urls },
    ];
    for (const { placement, from, to } of moves) {
      // Who is not taken at the old place any more goes to the new one.
      const crowd = new Crowd(from, { goesElsewhere: true, atLast: to });
      t.after(() => crowd.end());
      await until(async () => crowd.answered > 50, 'the crowd to be there');
      const path = `/environments/${environmentId}/server`;
      const { deployment } = await scene.call('PATCH', path, { placement });
      succeeded(await scene.ended(environmentId, String(Object(deployment).id)));
      const { url } = await scene.call('GET', `/environments/${environmentId}`);
      assert.equal(new URL(String(url)).port, port, 'as the visitors know it');
      await until(async () => crowd.turnedAway > 50, 'the old place to take nobody any more');
      await crowd.end();
      t.diagnostic(`${crowd.answered} answered, ${crowd.turnedAway} connections not taken`);
      assert.deepEqual(crowd.failures.slice(0, 3), []);
      for (const each of to) assert.equal(await visit(each), 'second');
    }
    const left = 'docker ps --all --quiet --filter label=slipway=app | wc -l';
    const { code, stdout } = await lab.client.console(fourth.about.name, 'sh', '-euc', left);
    assert.deepEqual([code, stdout.trim()], [0, '0']);
  });
});
