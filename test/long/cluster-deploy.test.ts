import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterScene, push, release } from '../support/cluster-deployments.ts';
import { Crowd, visit } from '../support/crowd.ts';
import { succeeded } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

test('an environment on three servers is deployed under load through every proxy, and stands the loss of one', async (t) => {
  const cluster = await ClusterScene.open(t, lab);
  const { scene, clusterId, ids } = cluster;
  const made = await scene.deployed({
    files: release('first'),
    name: 'shop',
    // One of the releases never answers, and must be under way for as long as it takes to see a server go.
    settings: { drainSeconds: 20, stopSeconds: 2, health: { startSeconds: 600 } },
    placement: { clusterId, replicas: 6 },
  });
  const { environmentId, deployment } = made;
  succeeded(deployment);
  const shown = await scene.call('GET', `/environments/${environmentId}`);
  assert.deepEqual(shown.placement, { clusterId, replicas: 6, spread: 'even' });
  const urls = await cluster.urls(environmentId);
  const other = ids.findIndex((id) => id !== shown.serverId);
  for (const url of urls) assert.equal(await visit(url), 'first');
  const spread = Map.groupBy(await cluster.containers(environmentId), ({ serverId }) => serverId);
  assert.deepEqual(
    ids.map((id) => spread.get(id)?.length),
    [2, 2, 2],
  );

  await t.test('a replica is closed off, and its port is for members alone', async () => {
    const options = await cluster.sh(
      0,
      `docker inspect --format '{{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.PidsLimit}} {{.HostConfig.Init}}' \\
        $(docker ps --quiet --filter label=slipway=app | head -n 1)`,
    );
    assert.match(options, /^\[(CAP_)?ALL\] \[no-new-privileges\S*\] 512 true$/);
    const port = await cluster.sh(
      0,
      `docker ps --filter label=slipway=app --format '{{.Ports}}' | grep -oE '0.0.0.0:[0-9]+' | head -n 1 | cut -d : -f 2`,
    );
    const address = cluster.servers[0]?.about.address;
    const asked = `curl --silent --max-time 2 --output /dev/null --write-out '%{http_code}' http://${address}:${port}/ || true`;
    assert.equal(await cluster.sh(1, asked), '200');
    await assert.rejects(fetch(`http://${address}:${port}/`, { signal: AbortSignal.timeout(2_000) }));
  });

  await t.test(
    'a second release under load: no request is lost, and nothing of the first is left',
    async (t) => {
      const received = () =>
        cluster.sh(
          other,
          `cat /sys/class/net/$(ip -o route get 1.1.1.1 | grep -oE 'dev [^ ]+' | cut -d ' ' -f 2)/statistics/rx_bytes`,
        );
      const crowd = new Crowd(urls);
      t.after(() => crowd.end());
      const before = Number(await received());
      await push(scene, release('second'));
      succeeded(await scene.deploy(environmentId));
      await until(async () => crowd.seen.has('second'), 'the second release to answer');
      await crowd.end();
      assert.deepEqual(crowd.failures, []);
      t.diagnostic(`${crowd.answered} requests answered through three proxies, none lost`);
      const megabytes = (Number(await received()) - before) / 1e6;
      t.diagnostic(`${megabytes.toFixed(0)} MB came to a server that had the lower layers`);
      // The image has more than two hundred; what the visitors bring is the rest.
      assert.ok(megabytes < 100, `${megabytes} MB`);
      for (const url of urls) assert.equal(await visit(url), 'second');
      assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '6');
      // Swarm removes the containers of a service that is gone when it comes to it.
      await until(
        async () => (await cluster.containers(environmentId)).length === 6,
        'the containers of the first to be gone',
      );
    },
  );

  const labelOf = `of() { docker inspect --format "{{index .Config.Labels \\"slipway.$1\\"}}" $(docker ps --quiet --filter label=slipway=app | head -n 1); }`;

  await t.test('a copy goes of which its server did not hear that it is old', async () => {
    const id = await cluster.sh(
      other,
      `${labelOf}
      tar --create --files-from /dev/null | docker import \\
        --change "LABEL slipway=image slipway.workspace=$(of workspace) slipway.environment=$(of environment)" -`,
    );
    succeeded(await scene.deploy(environmentId));
    assert.equal(await cluster.sh(other, `docker images --quiet --no-trunc | grep -c ${id} || true`), '0');
    await until(
      async () => (await cluster.containers(environmentId)).length === 6,
      'the containers of the one before to be gone',
    );
  });

  /** Of no task that Swarm knows: as a server has it that was restarted while its service was removed. */
  const leave = (place: number) =>
    cluster.sh(
      place,
      `${labelOf}
      docker create --label slipway=app --label "slipway.workspace=$(of workspace)" --label "slipway.environment=$(of environment)" \\
        --label slipway.deployment=${crypto.randomUUID()} --label com.docker.swarm.task.id=forgotten node:24-slim true`,
    );

  await t.test('what Swarm has forgotten of a release that is gone is taken away', async () => {
    const id = await leave(1);
    await until(async () => {
      await cluster.look();
      return (await cluster.sh(1, `docker ps --all --quiet --no-trunc --filter id=${id}`)) === '';
    }, 'it to be gone');
    assert.equal((await cluster.containers(environmentId)).length, 6);
  });

  await t.test('a release that does not answer leaves the one before in place, on every proxy', async () => {
    await push(scene, release('broken', 'process.exit(3);\n'));
    const failed = await scene.deploy(environmentId);
    assert.equal(failed.status, 'failed', JSON.stringify(failed));
    for (const url of urls) assert.equal(await visit(url), 'second');
    assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '6');
  });

  await t.test('the power of one server is cut: the others serve on, and it is even again', async (t) => {
    const [first = '', second = ''] = urls;
    const crowd = new Crowd([first, second]);
    t.after(() => crowd.end());
    await until(async () => crowd.answered > 50, 'the crowd to be there');
    await lab.client.cut(cluster.name(2));
    await until(async () => {
      await cluster.look();
      const there = await cluster.containers(environmentId);
      return there.filter(({ state, serverId }) => state === 'running' && serverId !== ids[2]).length === 6;
    }, 'six replicas on the two that are left');
    const lost = crowd.failures.length;
    await until(async () => {
      await cluster.look();
      return (await scene.call('GET', `/environments/${environmentId}`)).status === 'running';
    }, 'the proxies to follow');
    await crowd.end();
    t.diagnostic(`${crowd.answered} requests answered, ${lost} lost with the server`);
    assert.equal(crowd.failures.length, lost, 'none once the checks had taken its replicas out');
    // The checks take out each replica by itself: who lost a request to the first may have asked the second.
    const ofVisitors = Map.groupBy(crowd.failures, ({ visitor }) => visitor).values();
    for (const own of ofVisitors) assert.ok(own.length <= 2, JSON.stringify(own));
    await lab.client.heal(cluster.name(2));
    const third = urls[2] ?? '';
    await until(async () => {
      await cluster.look();
      return visit(third).catch(() => undefined);
    }, 'the third to serve again');
    assert.equal(await visit(third), 'second');
  });

  await t.test('the proxies follow replicas that move while a deployment is under way', async () => {
    await push(scene, release('slow', 'setInterval(() => {}, 1000);\n'));
    const path = `/environments/${environmentId}/deployments`;
    const { id } = await scene.call('POST', path, {});
    await until(
      async () => (await cluster.containers(environmentId)).length > 6,
      'the new release to be started',
    );
    const [lost, staying] = ids[0] === shown.serverId ? [1, 0] : [0, 1];
    const { address } = cluster.servers[lost]?.about ?? {};
    const listed = () => cluster.sh(staying, 'cat /var/lib/slipway/proxy/config/front-*');
    assert.ok((await listed()).includes(` ${address}:`));
    await lab.client.cut(cluster.name(lost));
    await until(async () => {
      await cluster.look();
      return !(await listed()).includes(` ${address}:`);
    }, 'the proxy to follow');
    assert.equal((await scene.call('GET', `${path}/${id}`)).finishedAt, null);
    assert.equal(await visit(urls[staying] ?? ''), 'second');
    await lab.client.heal(cluster.name(lost));
    await scene.call('POST', `${path}/${id}/cancel`);
    await until(async () => {
      await cluster.look();
      const nodes = await cluster.sh(2, `docker node ls --format '{{.Status}}'`);
      const { finishedAt } = await scene.call('GET', `${path}/${id}`);
      return finishedAt !== null && !nodes.includes('Down');
    }, 'all to be back');
    await until(async () => visit(urls[lost] ?? '').catch(() => undefined), 'it to serve again');
  });

  await t.test('where Docker crashes, the proxy is back without anybody looking', async () => {
    const since = () => cluster.sh(2, `docker inspect --format '{{.State.StartedAt}}' slipway-proxy || true`);
    const before = await since();
    await cluster.sh(2, 'kill -9 $(pidof dockerd)');
    // Without live restore, which Swarm does not have, Docker stops what it finds when it starts.
    await until(async () => ![before, ''].includes(await since()), 'the proxy to be stopped and started');
    await until(async () => visit(urls[2] ?? '').catch(() => undefined), 'it to answer');
    await until(async () => {
      await cluster.look();
      const running = (await cluster.containers(environmentId)).filter(({ state }) => state === 'running');
      return running.length === 6;
    }, 'the replicas to be there again');
  });

  await t.test('it is removed from every server, also from one that was away', async () => {
    const left = (place: number) =>
      cluster.sh(
        place,
        `docker ps --all --quiet --filter label=slipway=app | wc -l; ls /var/lib/slipway/proxy/config | grep -c ^front- || true`,
      );
    // Not every server has a replica: those of one that was away have moved, and nothing moves them back.
    const running = (await cluster.containers(environmentId)).filter(({ state }) => state === 'running');
    await leave([0, 1].find((place) => running.some(({ serverId }) => serverId === ids[place])) ?? 0);
    await lab.client.cut(cluster.name(2));
    await until(
      async () => (await cluster.sh(0, `docker node ls --format '{{.Status}}'`)).includes('Down'),
      'Swarm to see that it is away',
    );
    const { id } = await scene.call('DELETE', `/environments/${environmentId}`);
    await until(
      async () => (await left(0)) === '0\n0' && (await left(1)) === '0\n0',
      'the others to be rid of it',
    );
    assert.notEqual(await left(2), '0\n0');
    await lab.client.heal(cluster.name(2));
    const removal = await until(async () => {
      const operation = await scene.call('GET', `/operations/${id}`);
      return operation.finishedAt !== null && operation;
    }, 'the environment to be gone');
    assert.equal(removal.status, 'succeeded', JSON.stringify(removal));
    for (const place of [0, 1, 2]) assert.equal(await left(place), '0\n0', `on ${cluster.name(place)}`);
    assert.equal(await cluster.sh(0, 'docker service ls --quiet | wc -l'), '0');
  });
});
