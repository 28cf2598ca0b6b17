import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Endpoint } from '../../src/engine/engine.ts';
import type { RunPlan } from '../../src/engine/release-spec.ts';
import { nodesOf } from '../../src/engine/swarm/nodes.ts';
import { endpointsNow, replicasOf, serverOf } from '../../src/engine/swarm/replicas.ts';
import { Fault } from '../../src/fault.ts';
import { labCapacity, openLab } from '../support/lab.ts';
import { Visitors, visit } from '../support/proxy.ts';
import { run, SwarmGround } from '../support/swarm-ground.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

const nameAt = async (url: string) => String(JSON.parse((await visit(url)).text).name);

test('releases on a swarm take each other’s place under load through every proxy, and a server that goes costs two seconds', async (t) => {
  const ground = await SwarmGround.open(t, lab);
  const { cluster, target, urls } = ground;
  const first = await ground.deploy('first', undefined);
  for (const url of urls) assert.equal(await nameAt(url), 'first');
  const replicas = await replicasOf(cluster);
  assert.ok(!replicas.some(({ service }) => service.isOnOneNode), 'and may be started anew on any');
  const places = replicas.map(({ task }) => serverOf(cluster, task)?.name);
  assert.deepEqual(places.toSorted(), ['web-1', 'web-2', 'web-3'], 'one on each server');

  await t.test('a replica is closed off, and its port is for members alone', async () => {
    const [replica] = await replicasOf(cluster);
    const server = serverOf(cluster, replica?.task ?? null);
    assert.ok(replica?.task && server);
    const format =
      '{{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{.HostConfig.PidsLimit}} {{.HostConfig.Init}}';
    const closed = await server.host.remote.output([
      ...['docker', 'inspect', '--format', format],
      replica.task.containerId,
    ]);
    assert.match(closed.toString().trim(), /^\[(CAP_)?ALL\] \[no-new-privileges\S*\] 512 true$/);
    const url = `http://${server.address}:${replica.service.publishedPort}/`;
    await assert.rejects(fetch(url, { signal: AbortSignal.timeout(5_000) }));
  });

  let live = first;
  await t.test('a second and a third release under load: no request is lost', async (t) => {
    const crowd = urls.map((url) => new Visitors(t, url, 3));
    for (const name of ['second', 'third']) live = await ground.deploy(name, live);
    for (const url of urls) assert.equal(await nameAt(url), 'third');
    await Promise.all(crowd.map((each) => each.end()));
    assert.deepEqual(
      crowd.flatMap(({ failures }) => failures),
      [],
    );
    t.diagnostic(`${crowd.reduce((sum, { answered }) => sum + answered, 0)} requests, none lost`);
    assert.equal((await target.instances()).length, 3, 'nothing of the old ones is left');
  });

  await t.test('one that does not start is told in words, and the one that serves goes on', async () => {
    const broken = ground.release('broken', { startCommand: 'echo nothing to do; exit 3' });
    await assert.rejects(
      ground.start(broken, 'broken'),
      (error) => error instanceof Fault && /nothing to do/.test(error.evidence ?? ''),
    );
    const names = new Set(live.web.map(({ name }) => name));
    const mine = (await target.instances()).filter(({ name }) => !names.has(name));
    await target.removeInstances(
      mine.map(({ name }) => name),
      5,
    );
    for (const url of urls) assert.equal(await nameAt(url), 'third');
  });

  await t.test(
    'a replica that is silent for a while is waited for, and one that says no is not',
    async () => {
      const release = ground.release('fourth', { health: { ...run.health, timeoutSeconds: 2 } });
      const next = await ground.start(release, 'fourth');
      const names = new Set(next.web.map(({ name }) => name));
      const replica = (await replicasOf(cluster)).find(({ service }) => names.has(service.name));
      const server = serverOf(cluster, replica?.task ?? null);
      assert.ok(replica?.task && server);
      const { containerId } = replica.task;
      const { endpoints } = ground.front(next);
      await server.host.remote.output(['docker', 'pause', containerId]);
      const proving = target.prove(ground.front(live), endpoints, release);
      await sleep(5_000);
      await server.host.remote.output(['docker', 'unpause', containerId]);
      await proving;
      const wrong = { ...release, run: { ...release.run, health: { ...run.health, path: '/broken' } } };
      await assert.rejects(
        target.prove(ground.front(live), endpoints, wrong),
        (error) => error instanceof Fault && /→ 500/.test(error.evidence ?? ''),
      );
      await target.removeFromProxy([...names]);
      await target.removeInstances([...names], 5);
    },
  );

  await t.test('the power of a server is cut: the others serve on, and the lists follow', async (t) => {
    const crowd = urls.slice(0, 2).map((url) => new Visitors(t, url, 3));
    await until(() => crowd.every(({ answered }) => answered > 10), 'the visitors to be there');
    await lab.client.cut(ground.servers[2]?.about.name ?? '');
    await until(async () => {
      const there = await replicasOf(cluster);
      return there.every(
        ({ task }) => task?.state === 'running' && serverOf(cluster, task)?.name !== 'web-3',
      );
    }, 'Swarm to start its replica elsewhere');
    const failed = crowd.flatMap(({ failures }) => failures).length;
    await target.waitHealthy({ instances: live.web, run, secrets: [], onProbe: () => undefined });
    // As a look does it, beside whatever is under way; who gets no requests gets none by it.
    const now = await endpointsNow(cluster, live.web);
    const stranger = { name: 'stranger', address: '192.0.2.1', port: 22_000 };
    await target.moveServers(cluster.placement.environmentId, [...now, stranger]);
    const { fronts, states } = await target.survey(live.web.map(({ name }) => name));
    const byName = (all: readonly Endpoint[]) => all.toSorted((a, b) => a.name.localeCompare(b.name));
    assert.equal(now.length, 3);
    assert.deepEqual(
      fronts.map(({ agrees, file }) => [agrees, byName(file?.servers ?? [])]),
      [[true, byName(now)]],
    );
    assert.deepEqual(
      [...states.values()].map(({ status }) => status),
      Array(3).fill('running'),
    );
    await Promise.all(crowd.map((each) => each.end()));
    const all = crowd.flatMap(({ failures }) => failures);
    t.diagnostic(
      `${all.length} requests were lost with the server, of ${crowd[0]?.answered} and ${crowd[1]?.answered}`,
    );
    assert.equal(all.length, failed, 'none after the checks had taken it out');
    await lab.client.heal(ground.servers[2]?.about.name ?? '');
    await until(async () => {
      await target.restoreFront(ground.front(live));
      return (await nameAt(urls[2] ?? '').catch(() => '')) === 'third';
    }, 'the third server to serve again');
  });

  await t.test(
    'the proxy of a server that only Swarm does not hear of is switched with the others',
    async (t) => {
      const on = (script: string) => ground.servers[2]?.ssh(script);
      await on(
        `nft 'add table inet mute; add chain inet mute out { type filter hook output priority 0; };
        add rule inet mute out tcp dport 2377 drop; add rule inet mute out tcp sport 2377 drop'`,
      );
      await until(
        async () => (await ground.servers[0]?.ssh(`docker node ls --format '{{.Status}}'`))?.includes('Down'),
        'Swarm to call it down',
      );
      const crowd = new Visitors(t, urls[2] ?? '', 3);
      await until(() => crowd.answered > 10, 'the visitors to be there');
      live = await ground.deploy('fifth', live);
      assert.equal(await nameAt(urls[2] ?? ''), 'fifth');
      await on('nft delete table inet mute');
      await until(async () => {
        const states = await ground.servers[0]?.ssh(`docker node ls --format '{{.Status}}'`);
        return !states?.includes('Down');
      }, 'Swarm to have it back');
      await target.waitHealthy({ instances: live.web, run, secrets: [], onProbe: () => undefined });
      await target.restoreFront(ground.front(live));
      await crowd.end();
      assert.deepEqual(crowd.failures, []);
    },
  );

  await t.test('a server that lacks the image gets it while its replica is waited for', async () => {
    const names = live.web.map(({ name }) => name);
    const listed = `docker images --quiet --filter reference='127.0.0.1:9/slipway'`;
    const on = (script: string) => ground.servers[2]?.ssh(script);
    await target.stopInstances(names, run.stopSeconds);
    await on(`${listed} | xargs docker rmi --force`);
    const ended = on(
      `until grep -qsazx 'loa[d]' /proc/[0-9]*/cmdline; do sleep 0.02; done; systemctl kill --signal KILL docker`,
    );
    await assert.rejects(
      target.ensureImages(),
      (error) => error instanceof Fault && ['work_lost', 'docker_missing'].includes(error.code),
      'a Docker that is killed while it takes the image is asked again',
    );
    await ended;
    await on('until docker info >/dev/null 2>&1; do sleep 0.2; done');
    await target.ensureImages();
    assert.notEqual(await on(listed), '', 'whoever empties another server brings it first');
    await on(`${listed} | xargs docker rmi --force`);
    const [first, second] = cluster.servers;
    const nodes = `${first?.nodeId} ${second?.nodeId}`;
    const set = (availability: string) =>
      ground.servers[0]?.ssh(
        `for each in ${nodes}; do docker node update --availability ${availability} $each; done`,
      );
    await set('pause');
    await target.startAgain(names, run.stopSeconds);
    await target.waitHealthy({ instances: live.web, run, secrets: [], onProbe: () => undefined });
    for (const { task } of await replicasOf(cluster))
      assert.equal(serverOf(cluster, task)?.name, 'web-3', 'the others take nothing new');
    await set('active');
  });

  await t.test(
    'a server that refuses a replica is asked once; what it gave up meanwhile is served',
    async (t) => {
      const { web } = live;
      const shim = '/usr/bin/containerd-shim-runc-v2';
      // Nothing is started there any more; what runs goes on, and can be asked.
      for (const server of ground.servers.slice(0, 2)) await server.ssh(`mv ${shim} ${shim}.away`);
      const crowd = urls.map((url) => new Visitors(t, url, 3));
      const names = web.map(({ name }) => name);
      const check = { instances: web, run, secrets: [], onProbe: () => undefined };
      // A node has changed also when it gets its first container on a network, or loses its last.
      const unevenNow = async () => {
        const manager = await cluster.manager();
        await until(
          async () => (await nodesOf(manager)).every((each) => Date.now() - +each.changedAt > 31_000),
          'the nodes to be settled',
        );
        return (await target.survey(names)).uneven.length;
      };
      const look = async () => {
        assert.equal(await unevenNow(), 1);
        await target.evenOut(ground.front(live), check);
      };
      await look();
      const placesNow = async () =>
        (await replicasOf(cluster)).map(({ task }) => serverOf(cluster, task)?.name);
      const refusalsNow = async () =>
        new Set((await replicasOf(cluster)).flatMap(({ service }) => service.refusedBy)).size;
      assert.deepEqual(await placesNow(), ['web-3', 'web-3', 'web-3'], 'it is back where it was');
      assert.equal(await refusalsNow(), 1);
      await look();
      assert.equal(await refusalsNow(), 2, 'the second look asks the other');
      assert.equal(await unevenNow(), 0, 'there is nobody left to ask');
      await Promise.all(crowd.map((each) => each.end()));
      assert.deepEqual(
        crowd.flatMap(({ failures }) => failures),
        [],
      );
      for (const server of ground.servers.slice(0, 2)) await server.ssh(`mv ${shim}.away ${shim}`);
    },
  );

  await t.test('what is packed goes together, as long as there is room for it', async () => {
    const placesOf = async (changes: Partial<RunPlan>) => {
      const release = ground.release('packed', { ...changes, spread: 'packed' });
      const { web } = await ground.start(release, 'packed');
      const names = web.map(({ name }) => name);
      const own = (await replicasOf(cluster)).filter(({ service }) => names.includes(service.name));
      const places = Map.groupBy(own, ({ task }) => serverOf(cluster, task)?.name);
      await target.removeInstances(names, run.stopSeconds);
      return [...places.values()].map(({ length }) => length).sort();
    };
    assert.deepEqual(await placesOf({}), [3], 'beside what runs');
    const memoryMb = Math.floor(labCapacity.memoryMb / 3);
    const [fewest, most] = await placesOf({ memoryMb });
    assert.deepEqual([fewest, most], [1, 2], 'a third of a server each, and a tenth of it is nobody’s');
  });

  await target.takeDown({ deleteData: true });
  for (const { host } of cluster.servers) {
    const left = await host.remote.output([
      'docker',
      'ps',
      '--all',
      '--quiet',
      '--filter',
      'label=slipway=app',
    ]);
    assert.equal(left.toString(), '');
  }
});
